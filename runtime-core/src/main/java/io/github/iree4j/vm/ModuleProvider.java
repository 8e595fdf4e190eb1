package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;

/**
 * A module that programs may import, from a part that can be left out. Found by {@link java.util.ServiceLoader}, and linked
 * only into programs that import from the module and bring no module of the same name. The constructor does nothing costly.
 * Safe from any thread.
 */
@NotForApplications
public interface ModuleProvider {
    /**
     * Returns the module's name.
     *
     * @return the name in imports, for example {@code vmvx}
     */
    String name();

    /**
     * Returns the module, for any number of contexts.
     *
     * @return a module without state outside of contexts
     */
    VmModule module();
}
