package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;

/**
 * A dependency of a module on another module.
 *
 * @param module name of the other module
 * @param minimumVersion lowest acceptable version
 * @param required whether linking fails without the module; an optional module may be absent or of any version
 */
@NotForApplications
public record VmDependency(String module, int minimumVersion, boolean required) {}
