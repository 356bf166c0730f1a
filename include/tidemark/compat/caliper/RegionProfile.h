/* caliper/RegionProfile.h - Caliper's times of regions in the program, for tidemark: none
 * are taken, so the profile is empty (`tidemark report --regions` has what was allocated).
 * See caliper/cali.h.
 */
#ifndef TIDEMARK_COMPAT_CALI_REGION_PROFILE_H
#define TIDEMARK_COMPAT_CALI_REGION_PROFILE_H

#include <map>
#include <string>
#include <tuple>
#include "cali.h"

namespace cali
{

class RegionProfile
{
  public:
    using region_profile_t = std::tuple<std::map<std::string, double>, double, double>;

    void start()
    {
        cali_tide_idle("RegionProfile::start()");
    }
    void stop()
    {
    }
    void clear()
    {
    }
    region_profile_t exclusive_region_times(const std::string & = "")
    {
        return region_profile_t();
    }
    region_profile_t inclusive_region_times(const std::string & = "")
    {
        return region_profile_t();
    }
};

} // namespace cali

#endif
