/* caliper/cali_classes.hpp - Caliper's classes and C++ macros, for tidemark: see cali.h. */
#ifndef TIDEMARK_COMPAT_CALI_CLASSES_HPP
#define TIDEMARK_COMPAT_CALI_CLASSES_HPP

#include <cstdint>
#include <string>
#include <tidemark/compat/caliper/cali.h>
#include <type_traits>

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

/* A named attribute; regions, where its name says so. */
class Annotation
{
  public:
    class Guard; /* ends the innermost value at the end of its scope */

    explicit Annotation(const char *name, int properties = 0)
        : regions_(cali_tide_names_regions(name) != 0)
    {
        (void)properties;
    }

    Annotation &begin(const char *value)
    {
        if (regions_)
            tide_region_begin(value);
        return *this;
    }
    Annotation &begin(const std::string &value)
    {
        return begin(value.c_str());
    }
    template <class T>
    typename std::enable_if<std::is_arithmetic<T>::value, Annotation &>::type begin(T)
    {
        return *this;
    }
    Annotation &begin()
    {
        return *this;
    }
    template <class T> Annotation &set(const T &)
    {
        return *this;
    }
    void end()
    {
        if (regions_)
            tide_region_end(nullptr);
    }

  private:
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
