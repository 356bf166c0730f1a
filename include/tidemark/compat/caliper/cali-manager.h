/* caliper/cali-manager.h - Caliper's ConfigManager, for tidemark: see cali.h.
 *
 * It accepts every configuration and starts nothing: what is recorded is chosen by
 * `tidemark run`, and what is shown by `tidemark report`.
 */
#ifndef TIDEMARK_COMPAT_CALI_MANAGER_H
#define TIDEMARK_COMPAT_CALI_MANAGER_H

#include "cali.h"

/* --- In C ----------------------------------------------------------------------------- */

typedef struct {
    void *addr;
    int idtor;
} cali_ConfigManager;

typedef cali_ConfigManager cali_SHROUD_capsule_data;

typedef struct {
    cali_SHROUD_capsule_data cxx;
    union {
        const void *base;
        const char *ccharp;
    } addr;
    int type;
    size_t elem_len, size;
} cali_SHROUD_array;

static inline cali_ConfigManager *cali_ConfigManager_new(cali_ConfigManager *manager)
{
    manager->addr = NULL;
    manager->idtor = 0;
    return manager;
}
static inline void cali_ConfigManager_delete(cali_ConfigManager *manager)
{
    (void)manager;
}
static inline void cali_ConfigManager_add(cali_ConfigManager *manager,
                                          const char *config)
{
    (void)manager;
    (void)config;
}
static inline void cali_ConfigManager_set_default_parameter(cali_ConfigManager *manager,
                                                            const char *key,
                                                            const char *value)
{
    (void)manager;
    (void)key;
    (void)value;
}
static inline int cali_ConfigManager_error(const cali_ConfigManager *manager)
{
    (void)manager;
    return 0;
}
static inline void cali_ConfigManager_error_msg_bufferify(
    const cali_ConfigManager *manager, cali_SHROUD_array *text)
{
    (void)manager;
    memset(text, 0, sizeof(*text));
    text->addr.ccharp = "";
}
static inline void cali_SHROUD_memory_destructor(cali_SHROUD_capsule_data *memory)
{
    (void)memory;
}
static inline void cali_ConfigManager_start(cali_ConfigManager *manager)
{
    (void)manager;
    cali_tide_idle("ConfigManager::start()");
}
static inline void cali_ConfigManager_stop(cali_ConfigManager *manager)
{
    (void)manager;
}
static inline void cali_ConfigManager_flush(cali_ConfigManager *manager)
{
    (void)manager;
}

/* --- In C++ --------------------------------------------------------------------------- */

#ifdef __cplusplus

#    include <map>
#    include <memory>
#    include <string>
#    include <vector>

namespace cali
{

/* One configuration; there is none. */
class ChannelController
{
  public:
    virtual ~ChannelController() = default;
    virtual void start()
    {
    }
    virtual void stop()
    {
    }
    virtual void flush()
    {
    }
    std::string name() const
    {
        return std::string();
    }
    bool is_active() const
    {
        return false;
    }
};

class ConfigManager
{
  public:
    using argmap_t = std::map<std::string, std::string>;
    using ChannelPtr = std::shared_ptr<ChannelController>;
    using ChannelList = std::vector<ChannelPtr>;

    ConfigManager() = default;
    explicit ConfigManager(const char *)
    {
    }
    bool add(const char *)
    {
        return true;
    }
    bool add(const char *, argmap_t &)
    {
        return true;
    }
    ChannelList get_all_channels()
    {
        return ChannelList();
    }
    ChannelPtr get_channel(const char *) const
    {
        return ChannelPtr();
    }
    static std::vector<std::string> available_configs()
    {
        return std::vector<std::string>();
    }
    static std::vector<std::string> get_config_docstrings()
    {
        return std::vector<std::string>();
    }
    static std::string check_config_string(const char *, bool = false)
    {
        return std::string();
    }
    void add_config_spec(const char *)
    {
    }
    void add_option_spec(const char *)
    {
    }
    void set_default_parameter(const char *, const char *)
    {
    }
    std::vector<std::string> available_config_specs() const
    {
        return std::vector<std::string>();
    }
    std::string get_documentation_for_spec(const char *) const
    {
        return std::string();
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
        cali_tide_idle("ConfigManager::start()");
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
