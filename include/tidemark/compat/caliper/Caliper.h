/* caliper/Caliper.h - Caliper's runtime interface in C++, for tidemark: see caliper/cali.h.
 *
 * Begin, end and set are those of C.  All channels are one; callbacks of channels are
 * accepted and never called.
 */
#ifndef TIDEMARK_COMPAT_CALIPER_H
#define TIDEMARK_COMPAT_CALIPER_H

#include <cstddef>
#include <string>
#include <vector>
#include "SnapshotRecord.h"
#include "cali.h"
#include "common/RuntimeConfig.h"

namespace cali
{

class Channel
{
  public:
    /* Takes what would be called, and does not call it. */
    struct Callbacks {
        template <class Function> void connect(Function &&)
        {
            cali_tide_idle("Channel::events()");
        }
    };
    struct Events {
        Callbacks create_attr_evt, pre_begin_evt, post_begin_evt, pre_set_evt,
            post_set_evt, pre_end_evt, post_end_evt, async_event, create_thread_evt,
            release_thread_evt, post_init_evt, pre_finish_evt, finish_evt, snapshot,
            process_snapshot, pre_flush_evt, flush_evt, post_flush_evt,
            postprocess_snapshot, write_output_evt, track_mem_evt, untrack_mem_evt,
            clear_evt, subscribe_attribute;
    };

    explicit Channel(cali_id_t id = CALI_INV_ID) : id_(id)
    {
    }
    explicit operator bool() const
    {
        return id_ != CALI_INV_ID;
    }
    /* Older programs hold channels by pointer. */
    operator Channel *() const
    {
        static Channel channels[CALI_TIDE_CHANNELS];
        if (id_ >= CALI_TIDE_CHANNELS)
            return nullptr;
        channels[id_].id_ = id_;
        return &channels[id_];
    }
    Events &events()
    {
        static Events all;
        return all;
    }
    RuntimeConfig config() const
    {
        return RuntimeConfig();
    }
    std::string name() const
    {
        return id_ ? "channel." + std::to_string(id_) : "default";
    }
    bool is_active() const
    {
        return cali_channel_is_active(id_);
    }
    cali_id_t id() const
    {
        return id_;
    }
    friend bool operator==(const Channel &one, const Channel &other)
    {
        return one.id_ == other.id_;
    }
    friend bool operator!=(const Channel &one, const Channel &other)
    {
        return one.id_ != other.id_;
    }

  private:
    cali_id_t id_;
};

class Caliper
{
  public:
    /* --- Annotations: also those of one channel ------------------------------------- */

    void begin(const Attribute &attribute, const Variant &value)
    {
        cali_begin_variant(attribute.id(), value.c_variant());
    }
    void end(const Attribute &attribute)
    {
        cali_end(attribute.id());
    }
    void end_with_value_check(const Attribute &attribute, const Variant &)
    {
        cali_end(attribute.id());
    }
    void set(const Attribute &attribute, const Variant &value)
    {
        cali_set_variant(attribute.id(), value.c_variant());
    }
    void begin(Channel *, const Attribute &attribute, const Variant &value)
    {
        begin(attribute, value);
    }
    void end(Channel *, const Attribute &attribute)
    {
        end(attribute);
    }
    void set(Channel *, const Attribute &attribute, const Variant &value)
    {
        set(attribute, value);
    }
    Entry get(const Attribute &attribute) const
    {
        const Variant value(cali_get(attribute.id()));
        return value.empty() ? Entry() : Entry(attribute, value);
    }
    Entry get(Channel *, const Attribute &attribute) const
    {
        return get(attribute);
    }

    /* --- Attributes ------------------------------------------------------------------- */

    Attribute create_attribute(const std::string &name, cali_attr_type type,
                               int properties = CALI_ATTR_DEFAULT, int = 0,
                               const Attribute * = nullptr, const Variant * = nullptr)
    {
        return Attribute(cali_create_attribute(name.c_str(), type, properties));
    }
    bool attribute_exists(const std::string &name) const
    {
        return cali_find_attribute(name.c_str()) != CALI_INV_ID;
    }
    Attribute get_attribute(const std::string &name) const
    {
        return Attribute(cali_find_attribute(name.c_str()));
    }
    Attribute get_attribute(cali_id_t id) const
    {
        return cali_attribute_name(id) ? Attribute(id) : Attribute();
    }
    Node *make_tree_entry(const Attribute &, const Variant &, Node * = nullptr)
    {
        return nullptr;
    }
    Node *node(cali_id_t) const
    {
        return nullptr;
    }

    /* --- Memory ----------------------------------------------------------------------- */

    void memory_region_begin(const void *block, const char *label,
                             std::size_t element_bytes, std::size_t dimensions,
                             const std::size_t extents[], std::size_t = 0,
                             const Attribute * = nullptr, const Variant * = nullptr)
    {
        tide_label_shape(block, label, element_bytes, extents, dimensions);
    }
    void memory_region_end(const void *block)
    {
        tide_unlabel(block);
    }
    void memory_region_begin(Channel *, const void *block, const char *label,
                             std::size_t element_bytes, std::size_t dimensions,
                             const std::size_t extents[], std::size_t = 0,
                             const Attribute * = nullptr, const Variant * = nullptr)
    {
        memory_region_begin(block, label, element_bytes, dimensions, extents);
    }
    void memory_region_end(Channel *, const void *block)
    {
        memory_region_end(block);
    }

    /* --- Snapshots: the first TIDE_ENTRIES of their values ------------------------------ */

    void push_snapshot(Channel *channel, const SnapshotView &values)
    {
        push(channel, values);
    }
    void push_snapshot(Channel *channel, int, const SnapshotRecord *values)
    {
        push(channel, values ? *values : SnapshotRecord());
    }

    /* --- Channels, and Caliper itself --------------------------------------------------- */

    Channel create_channel(const char *name, const RuntimeConfig &)
    {
        return Channel(cali_create_channel(name, 0, nullptr));
    }
    Channel get_channel(cali_id_t id)
    {
        return id <= cali_tide_channels.made ? Channel(id) : Channel();
    }
    std::vector<Channel> get_all_channels()
    {
        std::vector<Channel> all;
        for (cali_id_t id = 0; id <= cali_tide_channels.made; id++)
            all.push_back(Channel(id));
        return all;
    }
    void activate_channel(const Channel &channel)
    {
        cali_activate_channel(channel.id());
    }
    void deactivate_channel(const Channel &channel)
    {
        cali_deactivate_channel(channel.id());
    }
    void delete_channel(const Channel &channel)
    {
        cali_delete_channel(channel.id());
    }
    void flush_and_write(Channel *, const SnapshotView &)
    {
    }
    void flush_and_write(Channel *, const SnapshotRecord *)
    {
    }
    void clear(Channel *)
    {
    }
    void finalize()
    {
    }
    bool is_signal() const
    {
        return false;
    }
    explicit operator bool() const
    {
        return true;
    }
    static Caliper instance()
    {
        return Caliper();
    }
    static Caliper sigsafe_instance()
    {
        return Caliper();
    }
    static bool is_initialized()
    {
        return true;
    }
    static void release()
    {
    }

  private:
    enum { TIDE_ENTRIES = 32 };

    template <class Values> static void push(const Channel *channel, const Values &from)
    {
        cali_id_t attributes[TIDE_ENTRIES];
        cali_variant_t values[TIDE_ENTRIES];
        int count = 0;
        if (!CALI_TIDE_TOLD || (channel && !channel->is_active()))
            return;
        for (std::size_t i = 0; i < from.size() && count < TIDE_ENTRIES; i++) {
            attributes[count] = from[i].attribute();
            values[count++] = from[i].value().c_variant();
        }
        cali_tide_push(count, attributes, values);
    }
};

} // namespace cali

#endif
