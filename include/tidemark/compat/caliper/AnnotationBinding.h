/* caliper/AnnotationBinding.h - who would be called for each region, for tidemark: bindings
 * are made, and never called.  See caliper/cali.h.
 */
#ifndef TIDEMARK_COMPAT_CALI_ANNOTATION_BINDING_H
#define TIDEMARK_COMPAT_CALI_ANNOTATION_BINDING_H

#include "Caliper.h"

namespace cali
{

class AnnotationBinding
{
  public:
    virtual ~AnnotationBinding() = default;
    virtual const char *service_tag() const = 0;
    virtual void initialize(Caliper *, Channel *)
    {
    }
    virtual void finalize(Caliper *, Channel *)
    {
    }
    virtual void on_mark_attribute(Caliper *, Channel *, const Attribute &)
    {
    }
    virtual void on_begin(Caliper *, Channel *, const Attribute &, const Variant &)
    {
    }
    virtual void on_end(Caliper *, Channel *, const Attribute &, const Variant &)
    {
    }

    template <class Binding>
    static void make_binding(Caliper *caliper, Channel *channel)
    {
        static Binding binding;
        binding.initialize(caliper, channel);
        cali_tide_idle("AnnotationBinding::make_binding()");
    }
};

} // namespace cali

#endif
