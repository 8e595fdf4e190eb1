package io.github.iree4j.vm;

/**
 * A module that another one needs before it.
 *
 * @param module its name
 * @param minimumVersion lowest version that will do
 * @param required whether linking fails without it; an optional one may be absent or of any version
 */
public record VmDependency(String module, int minimumVersion, boolean required) {}
