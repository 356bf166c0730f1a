/* caliper/common/RuntimeConfig.h - Caliper's configuration, for tidemark: accepted, and
 * without effect.  See caliper/cali.h.
 */
#ifndef TIDEMARK_COMPAT_CALI_RUNTIME_CONFIG_H
#define TIDEMARK_COMPAT_CALI_RUNTIME_CONFIG_H

#include <map>
#include <string>

namespace cali
{

class RuntimeConfig
{
  public:
    void preset(const char *, const std::string &)
    {
    }
    void set(const char *, const std::string &)
    {
    }
    void import(const std::map<std::string, std::string> &)
    {
    }
    void define_profile(const char *, const char *[][2])
    {
    }
    bool allow_read_env()
    {
        return true;
    }
    bool allow_read_env(bool)
    {
        return true;
    }
    static RuntimeConfig get_default_config()
    {
        return RuntimeConfig();
    }
};

} // namespace cali

#endif
