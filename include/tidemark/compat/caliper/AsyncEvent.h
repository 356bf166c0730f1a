/* caliper/AsyncEvent.h - events that begin in one thread and end in another, for tidemark:
 * see caliper/cali.h.
 *
 * The end is a snapshot with "async.end" (what it was called) and "time.duration.ns".
 */
#ifndef TIDEMARK_COMPAT_CALI_ASYNC_EVENT_H
#define TIDEMARK_COMPAT_CALI_ASYNC_EVENT_H

#include <chrono>
#include <cstdint>
#include <cstring>
#include "cali.h"

namespace cali
{

class TimedAsyncEvent
{
    using clock = std::chrono::steady_clock;

  public:
    TimedAsyncEvent() : begun_(false)
    {
    }
    static TimedAsyncEvent begin(const char *message)
    {
        TimedAsyncEvent event;
        if (CALI_TIDE_TOLD)
            event.start(message);
        return event;
    }
    void end()
    {
        if (CALI_TIDE_TOLD && begun_)
            tell();
        begun_ = false;
    }

  private:
    void start(const char *message)
    {
        std::strncpy(message_, message, sizeof(message_) - 1);
        message_[sizeof(message_) - 1] = '\0';
        since_ = clock::now();
        begun_ = true;
    }
    void tell() const
    {
        const auto took =
            std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - since_);
        const cali_id_t attributes[] = {
            cali_create_attribute("async.end", CALI_TYPE_STRING, 0),
            cali_create_attribute("time.duration.ns", CALI_TYPE_INT,
                                  CALI_ATTR_ASVALUE)};
        const cali_variant_t values[] = {
            cali_make_variant_from_string(message_),
            cali_make_variant_from_int64(static_cast<std::int64_t>(took.count()))};
        cali_tide_push(2, attributes, values);
    }

    bool begun_;
    char message_[111]; /* copied: the thread that ends it may come later */
    clock::time_point since_;
};

} // namespace cali

#endif
