/* caliper/cali-manager.h - Caliper's ConfigManager, for tidemark: see cali.h.
 *
 * It accepts every configuration and starts nothing: what is recorded is chosen by
 * `tidemark run`, and what is shown by `tidemark report`.
 */
#ifndef TIDEMARK_COMPAT_CALI_MANAGER_H
#define TIDEMARK_COMPAT_CALI_MANAGER_H

#include <tidemark/compat/caliper/cali.h>

#ifdef __cplusplus

#    include <string>

namespace cali
{

class ConfigManager
{
  public:
    ConfigManager() = default;
    explicit ConfigManager(const char *)
    {
    }
    bool add(const char *)
    {
        return true;
    }
    void set_default_parameter(const char *, const char *)
    {
    }
    std::string check(const char *) const
    {
        return std::string();
    }
    bool error() const
    {
        return false;
    }
    std::string error_msg() const
    {
        return std::string();
    }
    void start()
    {
    }
    void stop()
    {
    }
    void flush()
    {
    }
};

} // namespace cali

#endif
#endif
