/* caliper/common/Variant.h - a value of any of Caliper's types in C++, for tidemark: see
 * caliper/cali.h.
 */
#ifndef TIDEMARK_COMPAT_CALI_VARIANT_CLASS_H
#define TIDEMARK_COMPAT_CALI_VARIANT_CLASS_H

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <type_traits>
#include "cali_variant.h"

namespace cali
{

/* Strings are pointed to, not copied. */
class Variant
{
    template <class T>
    using if_signed =
        typename std::enable_if<std::is_integral<T>::value && std::is_signed<T>::value,
                                int>::type;
    template <class T>
    using if_unsigned = typename std::enable_if<std::is_integral<T>::value &&
                                                    std::is_unsigned<T>::value &&
                                                    !std::is_same<T, bool>::value,
                                                int>::type;

  public:
    Variant() : value_(cali_make_empty_variant())
    {
    }
    Variant(const cali_variant_t &value) : value_(value)
    {
    }
    Variant(bool value) : value_(cali_make_variant_from_bool(value))
    {
    }
    template <class T, if_signed<T> = 0>
    Variant(T value) : value_(cali_make_variant_from_int64(value))
    {
    }
    template <class T, if_unsigned<T> = 0>
    Variant(T value) : value_(cali_make_variant_from_uint(value))
    {
    }
    Variant(double value) : value_(cali_make_variant_from_double(value))
    {
    }
    Variant(const char *value) : value_(cali_make_variant_from_string(value))
    {
    }
    Variant(const std::string &value)
        : value_(cali_make_variant(CALI_TYPE_STRING, value.data(), value.size()))
    {
    }
    Variant(cali_attr_type value) : value_(cali_make_variant_from_type(value))
    {
    }
    Variant(cali_attr_type type, const void *data, std::size_t size)
        : value_(cali_make_variant(type, data, size))
    {
    }

    bool empty() const
    {
        return cali_variant_is_empty(value_);
    }
    explicit operator bool() const
    {
        return !empty();
    }
    cali_variant_t c_variant() const
    {
        return value_;
    }
    cali_attr_type type() const
    {
        return cali_variant_get_type(value_);
    }
    const void *data() const
    {
        return cali_variant_get_data(&value_);
    }
    std::size_t size() const
    {
        return cali_variant_get_size(value_);
    }
    void *get_ptr() const
    {
        return cali_variant_get_ptr(value_);
    }
    cali_id_t to_id(bool *ok = nullptr) const
    {
        return to_uint(ok);
    }
    int to_int(bool *ok = nullptr) const
    {
        return cali_variant_to_int(value_, ok);
    }
    std::int64_t to_int64(bool *ok = nullptr) const
    {
        return cali_variant_to_int64(value_, ok);
    }
    std::uint64_t to_uint(bool *ok = nullptr) const
    {
        return cali_variant_to_uint(value_, ok);
    }
    bool to_bool(bool *ok = nullptr) const
    {
        return cali_variant_to_bool(value_, ok);
    }
    double to_double(bool *ok = nullptr) const
    {
        return cali_variant_to_double(value_, ok);
    }
    cali_attr_type to_attr_type(bool *ok = nullptr) const
    {
        return cali_variant_to_type(value_, ok);
    }
    std::string to_string() const
    {
        switch (type()) {
        case CALI_TYPE_STRING:
            return std::string(static_cast<const char *>(data()), size());
        case CALI_TYPE_INT:
            return std::to_string(value_.value.v_int);
        case CALI_TYPE_UINT:
            return std::to_string(value_.value.v_uint);
        case CALI_TYPE_DOUBLE:
            return std::to_string(value_.value.v_double);
        case CALI_TYPE_BOOL:
            return value_.value.v_uint ? "true" : "false";
        case CALI_TYPE_TYPE:
            return cali_type2string(value_.value.v_type);
        case CALI_TYPE_ADDR:
        case CALI_TYPE_PTR:
            return hexadecimal(value_.value.v_uint);
        default:
            return std::string();
        }
    }

    friend bool operator==(const Variant &one, const Variant &other)
    {
        return cali_variant_eq(one.value_, other.value_);
    }
    friend bool operator!=(const Variant &one, const Variant &other)
    {
        return !(one == other);
    }
    friend bool operator<(const Variant &one, const Variant &other)
    {
        return cali_variant_compare(one.value_, other.value_) < 0;
    }
    friend bool operator>(const Variant &one, const Variant &other)
    {
        return other < one;
    }

  private:
    static std::string hexadecimal(std::uint64_t number)
    {
        std::string digits;
        do {
            digits.insert(digits.begin(), "0123456789abcdef"[number % 16]);
            number /= 16;
        } while (number);
        return digits;
    }

    cali_variant_t value_;
};

inline std::ostream &operator<<(std::ostream &out, const Variant &value)
{
    return out << value.to_string();
}

} // namespace cali

#endif
