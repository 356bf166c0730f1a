/* caliper/cali_classes.hpp - Caliper's classes and C++ macros, for tidemark: see cali.h. */
#ifndef TIDEMARK_COMPAT_CALI_CLASSES_HPP
#define TIDEMARK_COMPAT_CALI_CLASSES_HPP

#include <cstdint>
#include <string>
#include <type_traits>
#include "cali.h"

namespace cali
{

/* A region until the end of the scope, or until end(). */
class ScopeAnnotation
{
  public:
    explicit ScopeAnnotation(const char *name) : name_(name)
    {
        tide_region_begin(name);
    }
    ~ScopeAnnotation()
    {
        end();
    }
    ScopeAnnotation(const ScopeAnnotation &) = delete;
    ScopeAnnotation &operator=(const ScopeAnnotation &) = delete;

    void end()
    {
        if (name_)
            tide_region_end(name_);
        name_ = nullptr;
    }

  private:
    const char *name_;
};

using Function = ScopeAnnotation;

class Loop
{
  public:
    class Iteration
    {
      public:
        explicit Iteration(int number)
        {
            tide_iteration(number);
        }
        ~Iteration()
        {
            tide_iteration_end();
        }
        Iteration(const Iteration &) = delete;
        Iteration &operator=(const Iteration &) = delete;
    };

    explicit Loop(const char *name) : name_(name)
    {
        tide_loop_begin(name);
    }
    ~Loop()
    {
        end();
    }
    Loop(const Loop &) = delete;
    Loop &operator=(const Loop &) = delete;

    void end()
    {
        if (name_)
            tide_loop_end(name_);
        name_ = nullptr;
    }

  private:
    const char *name_;
};

/* A named attribute; regions, where its name or properties say so. */
class Annotation
{
  public:
    class Guard; /* ends the innermost value at the end of its scope */

    explicit Annotation(const char *name, int properties = 0)
        : name_(name), regions_(cali_tide_names_regions(name) != 0 ||
                                (properties & CALI_ATTR_NESTED) != 0)
    {
    }

    Annotation &begin(const char *value)
    {
        if (regions_)
            tide_region_begin(value);
        else
            tide_begin_string(name_, value);
        return *this;
    }
    Annotation &begin(const std::string &value)
    {
        return begin(value.c_str());
    }
    template <class T>
    typename std::enable_if<std::is_integral<T>::value, Annotation &>::type begin(
        T value)
    {
        tide_begin_int(name_, static_cast<std::int64_t>(value));
        return *this;
    }
    template <class T>
    typename std::enable_if<std::is_floating_point<T>::value, Annotation &>::type begin(
        T value)
    {
        tide_begin_double(name_, static_cast<double>(value));
        return *this;
    }
    Annotation &begin()
    {
        return begin(1);
    }
    Annotation &set(const char *value)
    {
        tide_set_string(name_, value);
        return *this;
    }
    Annotation &set(const std::string &value)
    {
        return set(value.c_str());
    }
    template <class T>
    typename std::enable_if<std::is_integral<T>::value, Annotation &>::type set(T value)
    {
        tide_set_int(name_, static_cast<std::int64_t>(value));
        return *this;
    }
    template <class T>
    typename std::enable_if<std::is_floating_point<T>::value, Annotation &>::type set(
        T value)
    {
        tide_set_double(name_, static_cast<double>(value));
        return *this;
    }
    void end()
    {
        if (regions_)
            tide_region_end(nullptr);
        else
            tide_end(name_);
    }

  private:
    const char *name_; /* borrowed: a literal, as a rule */
    bool regions_;
};

class Annotation::Guard
{
  public:
    explicit Guard(const Annotation &annotation) : annotation_(annotation)
    {
    }
    ~Guard()
    {
        annotation_.end();
    }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;

  private:
    Annotation annotation_;
};

} // namespace cali

#define CALI_CXX_MARK_FUNCTION \
    const ::cali::Function cali_this_function(static_cast<const char *>(__func__))
#define CALI_CXX_MARK_SCOPE(name) \
    const ::cali::ScopeAnnotation TIDE_API_JOIN(cali_scope_, __LINE__)(name)
#define CALI_CXX_MARK_LOOP_BEGIN(loop_id, name) ::cali::Loop cali_loop_##loop_id(name)
#define CALI_CXX_MARK_LOOP_ITERATION(loop_id, i) \
    const ::cali::Loop::Iteration cali_iteration_##loop_id(static_cast<int>(i))
#define CALI_CXX_MARK_LOOP_END(loop_id) cali_loop_##loop_id.end()

#endif
