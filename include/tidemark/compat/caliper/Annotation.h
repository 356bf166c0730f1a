/* caliper/Annotation.h - Caliper's classes and C++ macros, for tidemark: included by
 * cali.h.
 */
#ifndef TIDEMARK_COMPAT_CALI_ANNOTATION_H
#define TIDEMARK_COMPAT_CALI_ANNOTATION_H

#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#include "cali.h"
#include "common/Variant.h"

namespace cali
{

/* A function is a region until it is left. */
class Function
{
  public:
    explicit Function(const char *name)
    {
        tide_region_begin_as("function", name);
    }
    ~Function()
    {
        tide_region_end_as("function", nullptr);
    }
    Function(const Function &) = delete;
    Function &operator=(const Function &) = delete;
};

/* A region until the end of the scope, or until end(). */
class ScopeAnnotation
{
  public:
    explicit ScopeAnnotation(const char *name) : open_(true)
    {
        tide_region_begin_as("annotation", name);
    }
    ~ScopeAnnotation()
    {
        end();
    }
    ScopeAnnotation(const ScopeAnnotation &) = delete;
    ScopeAnnotation &operator=(const ScopeAnnotation &) = delete;

    void end()
    {
        if (open_)
            tide_region_end_as("annotation", nullptr);
        open_ = false;
    }

  private:
    bool open_;
};

class Loop
{
  public:
    class Iteration
    {
      public:
        explicit Iteration(int number) : open_(true)
        {
            tide_iteration(number);
        }
        Iteration(Iteration &&other) : open_(other.open_)
        {
            other.open_ = false;
        }
        ~Iteration()
        {
            if (open_)
                tide_iteration_end();
        }
        Iteration(const Iteration &) = delete;
        Iteration &operator=(const Iteration &) = delete;

      private:
        bool open_;
    };

    explicit Loop(const char *name) : open_(true)
    {
        tide_loop_begin(name);
    }
    ~Loop()
    {
        end();
    }
    Loop(const Loop &) = delete;
    Loop &operator=(const Loop &) = delete;

    Iteration iteration(int number) const
    {
        return Iteration(number);
    }
    void end()
    {
        if (open_)
            tide_region_end_as("loop", nullptr);
        open_ = false;
    }

  private:
    bool open_;
};

/* A named attribute.  Its name is kept while there is a recorder to be told of it. */
class Annotation
{
  public:
    using MetadataListType = std::map<const char *, Variant>;
    class Guard; /* ends the innermost value at the end of its scope */
    using AutoScope = Guard;

    explicit Annotation(const char *name, int properties = 0)
        : attribute_(CALI_TIDE_TOLD
                         ? cali_create_attribute(name, CALI_TYPE_INV, properties)
                         : CALI_INV_ID)
    {
    }
    Annotation(const char *name, const MetadataListType &, int properties = 0)
        : Annotation(name, properties)
    {
    }

    Annotation &begin()
    {
        cali_begin(attribute_);
        return *this;
    }
    Annotation &begin(const Variant &value)
    {
        cali_begin_variant(attribute_, value.c_variant());
        return *this;
    }
    Annotation &begin(cali_attr_type type, const void *data, std::uint64_t size)
    {
        return begin(Variant(type, data, size));
    }
    template <class T> Annotation &begin(const T &value)
    {
        if (CALI_TIDE_TOLD)
            begin(Variant(value));
        return *this;
    }
    Annotation &set(const Variant &value)
    {
        cali_set_variant(attribute_, value.c_variant());
        return *this;
    }
    Annotation &set(cali_attr_type type, const void *data, std::uint64_t size)
    {
        return set(Variant(type, data, size));
    }
    template <class T> Annotation &set(const T &value)
    {
        if (CALI_TIDE_TOLD)
            set(Variant(value));
        return *this;
    }
    void end()
    {
        cali_end(attribute_);
    }

  private:
    cali_id_t attribute_;
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

/* --- Channels --------------------------------------------------------------------------- */

using config_map_t = std::map<std::string, std::string>;

inline cali_id_t create_channel(const char *name, int flags, const config_map_t &)
{
    return cali_create_channel(name, flags, nullptr);
}
inline void write_report_for_query(cali_id_t, const char *, int, std::ostream &)
{
    cali_tide_idle("cali::write_report_for_query()");
}

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
