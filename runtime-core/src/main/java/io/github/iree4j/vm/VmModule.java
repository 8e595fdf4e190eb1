package io.github.iree4j.vm;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A set of functions under a common name: compiled bytecode or Java. Immutable and safe to share between contexts and
 * threads; mutable state is in the {@link VmModuleState} of each context.
 */
public interface VmModule {
    /**
     * Key of the attribute naming the compilers whose programs a module can serve, for use in messages; for example
     * {@code IREE of March 2023 to August 2026}.
     */
    String SERVES = "iree4j.serves";

    /**
     * Returns the module name used by imports.
     *
     * @return for example {@code hal}
     */
    String name();

    /**
     * Returns the version checked against dependencies.
     *
     * @return the version, as an unsigned number
     */
    int version();

    /**
     * Returns the reflection attributes of the module itself.
     *
     * @return unmodifiable
     */
    Map<String, String> attributes();

    /**
     * Returns the modules that must be linked earlier.
     *
     * @return unmodifiable
     */
    List<VmDependency> dependencies();

    /**
     * Returns the functions imported from other modules. The index is the ordinal used in linking.
     *
     * @return unmodifiable
     */
    List<VmImport> imports();

    /**
     * Returns the exported functions.
     *
     * @return unmodifiable
     */
    List<VmFunction> exports();

    /**
     * Finds an export. Several exports may share a name and differ in convention, as generations of an interface do.
     *
     * @param functionName the name within the module
     * @param callingConvention the required convention; empty means any
     * @return the export, or null when there is none
     */
    @Nullable
    VmFunction resolve(String functionName, String callingConvention);

    /**
     * Returns the reference types provided by the module. The type tables of importing modules may name these types.
     *
     * @return Java types by name, without the leading {@code !}; unmodifiable, empty for most
     */
    default Map<String, Class<?>> referenceTypes() {
        return Map.of();
    }

    /**
     * Creates the module's state for a context.
     *
     * @param options limits for the context
     * @return the state, owned by the caller
     */
    VmModuleState createState(ContextOptions options);
}
