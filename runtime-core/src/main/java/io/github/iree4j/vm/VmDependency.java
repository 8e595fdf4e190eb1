package io.github.iree4j.vm;

/**
 * A module that another module depends on.
 *
 * @param module its name
 * @param minimumVersion lowest acceptable version
 * @param required whether linking fails without it; an optional one may be absent or of any version
 */
public record VmDependency(String module, int minimumVersion, boolean required) {}
