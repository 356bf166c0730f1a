/* caliper/CaliFunctional.h - Caliper's wrapped functions, for tidemark: see caliper/cali.h.
 *
 * Each call is a region, a value of "wrapped_function"; its arguments and what it returns
 * are columns of `tidemark query`.
 */
#ifndef TIDEMARK_COMPAT_CALI_FUNCTIONAL_H
#define TIDEMARK_COMPAT_CALI_FUNCTIONAL_H

#include <type_traits>
#include <utility>
#include "cali.h"

namespace cali
{

namespace functional_parts
{

/* "wrapped_function" is NAME until the end of the scope. */
class Wrapped
{
  public:
    explicit Wrapped(const char *name)
    {
        if (CALI_TIDE_TOLD)
            cali_tide_change("wrapped_function", CALI_ATTR_NESTED, CALI_TIDE_BEGIN,
                             Variant(name).c_variant());
    }
    ~Wrapped()
    {
        if (CALI_TIDE_TOLD)
            cali_tide_stop("wrapped_function", CALI_ATTR_NESTED);
    }
    Wrapped(const Wrapped &) = delete;
    Wrapped &operator=(const Wrapped &) = delete;
};

inline void tell(const char *name, const void *value)
{
    tide_begin_address(name, value);
}
inline void tell(const char *name, const char *value)
{
    tide_begin_string(name, value ? value : "");
}
template <class T>
typename std::enable_if<std::is_arithmetic<T>::value>::type tell(const char *name,
                                                                 const T &value)
{
    cali_tide_tell(name, CALI_TIDE_BEGIN, Variant(value).c_variant());
}
template <class T>
typename std::enable_if<!std::is_arithmetic<T>::value &&
                        !std::is_convertible<T, const void *>::value>::type
tell(const char *name, const T &)
{
    tide_begin_string(name, "Unmeasurable");
}

/* What the arguments are, until the end of the scope. */
class Arguments
{
  public:
    template <class... Values> explicit Arguments(const Values &...values) : count_(0)
    {
        if (CALI_TIDE_TOLD) {
            const int each[] = {0, add(values)...};
            (void)each;
        }
    }
    ~Arguments()
    {
        for (; count_; count_--) {
            name();
            tide_end(name_);
        }
    }
    Arguments(const Arguments &) = delete;
    Arguments &operator=(const Arguments &) = delete;

  private:
    void name()
    {
        snprintf(name_, sizeof(name_), "function_argument_%d", count_);
    }
    template <class T> int add(const T &value)
    {
        count_++;
        name();
        tell(name_, value);
        return 0;
    }
    int count_;
    char name_[32];
};

template <class T> T returned(T value)
{
    if (CALI_TIDE_TOLD) {
        tell("return", value);
        tide_end("return");
    }
    return value;
}

} // namespace functional_parts

template <class Body> class WrappedFunction
{
  public:
    WrappedFunction(const char *name, Body body) : name_(name), body_(body)
    {
    }
    template <class... Values>
    auto operator()(Values... values) -> decltype(std::declval<Body>()(values...))
    {
        const functional_parts::Wrapped region(name_);
        return body_(values...);
    }

  private:
    const char *name_;
    Body body_;
};

template <class Body> class ArgWrappedFunction
{
    template <class... Values>
    using result = decltype(std::declval<Body>()(std::declval<Values &>()...));

  public:
    ArgWrappedFunction(const char *name, Body body) : name_(name), body_(body)
    {
    }
    template <class... Values>
    typename std::enable_if<std::is_void<result<Values...>>::value>::type operator()(
        Values... values)
    {
        const functional_parts::Wrapped region(name_);
        const functional_parts::Arguments arguments(values...);
        body_(values...);
    }
    template <class... Values>
    typename std::enable_if<!std::is_void<result<Values...>>::value,
                            result<Values...>>::type
    operator()(Values... values)
    {
        const functional_parts::Wrapped region(name_);
        const functional_parts::Arguments arguments(values...);
        return functional_parts::returned<result<Values...>>(body_(values...));
    }

  private:
    const char *name_;
    Body body_;
};

template <class Body> WrappedFunction<Body> wrap_function(const char *name, Body body)
{
    return WrappedFunction<Body>(name, body);
}
template <class Body>
ArgWrappedFunction<Body> wrap_function_and_args(const char *name, Body body)
{
    return ArgWrappedFunction<Body>(name, body);
}
template <class Body, class... Values>
auto wrap(const char *name, Body body, Values... values) -> decltype(body(values...))
{
    const functional_parts::Wrapped region(name);
    return body(values...);
}

} // namespace cali

#endif
