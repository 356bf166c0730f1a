/* caliper/SnapshotRecord.h - attributes and entries of snapshots in C++, for tidemark: see
 * caliper/cali.h.
 */
#ifndef TIDEMARK_COMPAT_CALI_SNAPSHOT_RECORD_H
#define TIDEMARK_COMPAT_CALI_SNAPSHOT_RECORD_H

#include <cstddef>
#include <string>
#include "cali.h"

namespace cali
{

class Node; /* Caliper's tree of values: there is none */

class Attribute
{
  public:
    explicit Attribute(cali_id_t id = CALI_INV_ID) : id_(id)
    {
    }
    explicit operator bool() const
    {
        return id_ != CALI_INV_ID;
    }
    cali_id_t id() const
    {
        return id_;
    }
    const char *name_c_str() const
    {
        const char *const name = cali_attribute_name(id_);
        return name ? name : "";
    }
    std::string name() const
    {
        return name_c_str();
    }
    cali_attr_type type() const
    {
        return cali_attribute_type(id_);
    }
    int properties() const
    {
        return cali_attribute_properties(id_);
    }
    bool is_nested() const
    {
        return properties() & CALI_ATTR_NESTED;
    }
    bool is_global() const
    {
        return properties() & CALI_ATTR_GLOBAL;
    }
    bool is_hidden() const
    {
        return properties() & CALI_ATTR_HIDDEN;
    }
    bool skip_events() const
    {
        return properties() & CALI_ATTR_SKIP_EVENTS;
    }
    bool store_as_value() const
    {
        return properties() & CALI_ATTR_ASVALUE;
    }

    friend bool operator==(const Attribute &one, const Attribute &other)
    {
        return one.id_ == other.id_;
    }
    friend bool operator!=(const Attribute &one, const Attribute &other)
    {
        return one.id_ != other.id_;
    }
    friend bool operator<(const Attribute &one, const Attribute &other)
    {
        return one.id_ < other.id_;
    }

  private:
    cali_id_t id_;
};

class Entry
{
  public:
    Entry() : attribute_(CALI_INV_ID)
    {
    }
    Entry(const Attribute &attribute, const Variant &value)
        : attribute_(attribute.id()), value_(value)
    {
    }
    Entry(cali_id_t attribute, const Variant &value)
        : attribute_(attribute), value_(value)
    {
    }
    Entry(Node *) : attribute_(CALI_INV_ID)
    {
    }
    cali_id_t attribute() const
    {
        return attribute_;
    }
    Variant value() const
    {
        return value_;
    }
    Variant value(const Attribute &attribute) const
    {
        return attribute.id() == attribute_ ? value_ : Variant();
    }
    bool empty() const
    {
        return attribute_ == CALI_INV_ID;
    }

  private:
    cali_id_t attribute_;
    Variant value_;
};

/* COUNT values of attributes, which stay where they are. */
class SnapshotRecord
{
  public:
    SnapshotRecord() : count_(0), attributes_(nullptr), values_(nullptr)
    {
    }
    SnapshotRecord(std::size_t count, const cali_id_t *attributes,
                   const Variant *values)
        : count_(count), attributes_(attributes), values_(values)
    {
    }
    std::size_t size() const
    {
        return count_;
    }
    Entry operator[](std::size_t at) const
    {
        return Entry(attributes_[at], values_[at]);
    }

  private:
    std::size_t count_;
    const cali_id_t *attributes_;
    const Variant *values_;
};

/* A part of a snapshot, by its entries. */
class SnapshotView
{
  public:
    SnapshotView() : count_(0), entries_(nullptr)
    {
    }
    SnapshotView(std::size_t count, const Entry *entries)
        : count_(count), entries_(entries)
    {
    }
    explicit SnapshotView(const Entry &entry) : count_(1), entries_(&entry)
    {
    }
    std::size_t size() const
    {
        return count_;
    }
    const Entry &operator[](std::size_t at) const
    {
        return entries_[at];
    }

  private:
    std::size_t count_;
    const Entry *entries_;
};

} // namespace cali

#endif
