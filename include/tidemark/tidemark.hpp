/* tidemark/tidemark.hpp - tidemark.h for C++: things that end with their scope.
 *
 *     void solve(std::vector<double> &x)
 *     {
 *         TIDEMARK_FUNCTION();
 *         tidemark::label name(x.data(), "x", x.size() * sizeof(double));
 *         tidemark::window counted("solve");
 *         ...
 *         std::cout << counted.stop().alloc_calls << '\n';
 *     }
 *
 * Header only, C++11 and up.  Without the recorder everything is as good as not there; only
 * who registers a monitor is told so, by tidemark::not_recorded.
 */
#ifndef TIDEMARK_TIDEMARK_HPP
#define TIDEMARK_TIDEMARK_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <stdexcept>
#include "tidemark.h"

namespace tidemark
{

/* Monitors need the recorder. */
class not_recorded : public std::runtime_error
{
  public:
    not_recorded()
        : std::runtime_error("tidemark's recorder is not loaded: start the program with"
                             " `tidemark run`, or with LD_PRELOAD=libtidemark.so")
    {
    }
};

/* For things that stand for one scope. */
class only_here
{
  public:
    only_here(const only_here &) = delete;
    only_here &operator=(const only_here &) = delete;

  protected:
    only_here() = default;
    ~only_here() = default;
};

/* A region, from here to the end of the scope.  NAME must live as long. */
class region : only_here
{
  public:
    explicit region(const char *name) : name_(name)
    {
        tide_region_begin(name);
    }
    ~region()
    {
        tide_region_end(name_);
    }

  private:
    const char *name_;
};

/* A phase of the whole process. */
class phase : only_here
{
  public:
    explicit phase(const char *name) : name_(name)
    {
        tide_phase_begin(name);
    }
    ~phase()
    {
        tide_phase_end(name_);
    }

  private:
    const char *name_;
};

/* A loop: tell it of each iteration. */
class loop : only_here
{
  public:
    explicit loop(const char *name) : name_(name)
    {
        tide_loop_begin(name);
    }
    ~loop()
    {
        tide_loop_end(name_);
    }
    void iteration(std::int64_t number) const
    {
        tide_iteration(number);
    }

  private:
    const char *name_;
};

/* A block has a name until the end of the scope. */
class label : only_here
{
  public:
    label(const void *block, const char *name, std::size_t bytes) : block_(block)
    {
        tide_label(block, name, bytes);
    }
    label(const void *block, const char *name, std::size_t element_bytes,
          std::initializer_list<std::size_t> extents)
        : block_(block)
    {
        tide_label_shape(block, name, element_bytes, extents.begin(), extents.size());
    }
    ~label()
    {
        tide_unlabel(block_);
    }

  private:
    const void *block_;
};

/* Queries see VALUE under NAME, of what this thread does, until the end of the scope.  NAME
 * must live as long. */
class value : only_here
{
  public:
    value(const char *name, std::int64_t number) : name_(name)
    {
        tide_begin_int(name, number);
    }
    value(const char *name, int number) : value(name, std::int64_t{number})
    {
    }
    value(const char *name, double number) : name_(name)
    {
        tide_begin_double(name, number);
    }
    value(const char *name, const char *text) : name_(name)
    {
        tide_begin_string(name, text);
    }
    ~value()
    {
        tide_end(name_);
    }

  private:
    const char *name_;
};

/* Nothing is recorded or counted until the end of the scope. */
class pause : only_here
{
  public:
    explicit pause(tide_scope scope = TIDE_SCOPE_PROCESS) : scope_(scope)
    {
        tide_pause(scope);
    }
    ~pause()
    {
        tide_resume(scope_);
    }

  private:
    tide_scope scope_;
};

/* Counts from here to stop(), or to the end of the scope. */
class window : only_here
{
  public:
    explicit window(const char *name = nullptr, tide_scope scope = TIDE_SCOPE_PROCESS)
        : handle_(tide_window_start(name, scope))
    {
    }
    ~window()
    {
        tide_stop(handle_, nullptr);
    }

    /* What was counted so far; all zeros without the recorder. */
    tide_stats peek() const
    {
        tide_stats stats;
        tide_peek(handle_, &stats);
        return stats;
    }
    /* The same, and the end of it: later calls give zeros. */
    tide_stats stop()
    {
        tide_stats stats;
        tide_stop(handle_, &stats);
        return stats;
    }

  private:
    tide_handle handle_;
};

/* What this thread allocates in the scope reaches no monitor and no window. */
class hush : only_here
{
  public:
    hush() : before_(tide_hush(1))
    {
    }
    ~hush()
    {
        tide_hush(before_);
    }

  private:
    int before_;
};

/* The block that holds ADDRESS; all zeros when none is known: see tide_find(). */
inline tide_found_block find(const void *address)
{
    tide_found_block block;
    tide_find(address, &block);
    return block;
}

/* Calls alloc_called() and free_called() of T for each allocation and free of the process
 * while it lives:
 *
 *     struct counter {
 *         std::atomic<long> calls{0};
 *         void alloc_called(std::size_t, std::size_t, const void *) { calls++; }
 *         void free_called(std::size_t, const void *) {}
 *     };
 *     counter counts;
 *     tidemark::monitor<counter> watching(counts);
 *
 * They may not throw: they are called from within malloc and free.
 */
template <class T> class monitor : only_here
{
  public:
    explicit monitor(T &target)
    {
        const int answer =
            tide_monitor_add(alloc_called, free_called, &target, &handle_);
        if (answer == TIDE_ABSENT)
            throw not_recorded();
        if (answer != TIDE_DONE)
            throw std::bad_alloc();
    }
    ~monitor()
    {
        tide_monitor_remove(handle_);
    }

  private:
    static void alloc_called(std::size_t requested, std::size_t used, const void *block,
                             void *target) noexcept
    {
        static_cast<T *>(target)->alloc_called(requested, used, block);
    }
    static void free_called(std::size_t used, const void *block, void *target) noexcept
    {
        static_cast<T *>(target)->free_called(used, block);
    }

    tide_handle handle_;
};

} // namespace tidemark

/* The function is a region from here to its end. */
#define TIDEMARK_FUNCTION() TIDEMARK_REGION(__func__)
/* The scope is. */
#define TIDEMARK_REGION(name) \
    const ::tidemark::region TIDE_API_JOIN(tidemark_region_, __LINE__)(name)

#endif
