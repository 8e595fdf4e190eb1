package io.github.iree4j.vm;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A set of functions under one name: compiled bytecode or Java. Immutable and safe to share between contexts and threads; mutable state is
 * in the {@link VmModuleState} of each context.
 */
public interface VmModule {
    /**
     * Key of the attribute that names the compilers whose programs a module can serve, for use in messages; for example {@code IREE of
     * March 2023 to August 2026}.
     */
    String SERVES = "iree4j.serves";

    /**
     * Returns the name that imports refer to.
     *
     * @return for example {@code hal}
     */
    String name();

    /**
     * Returns the version that dependencies are checked against.
     *
     * @return the version, as an unsigned number
     */
    int version();

    /**
     * Returns the module's own reflection attributes.
     *
     * @return unmodifiable
     */
    Map<String, String> attributes();

    /**
     * Returns the modules that must be linked before this one.
     *
     * @return unmodifiable
     */
    List<VmDependency> dependencies();

    /**
     * Returns the functions it imports from other modules; the index is the ordinal used in linking.
     *
     * @return unmodifiable
     */
    List<VmImport> imports();

    /**
     * Returns the functions it exports.
     *
     * @return unmodifiable
     */
    List<VmFunction> exports();

    /**
     * Finds an export. Several may share a name and differ in convention, as generations of an interface do.
     *
     * @param functionName its name within the module
     * @param callingConvention the required convention; empty means any
     * @return the export, or null when there is none
     */
    @Nullable
    VmFunction resolve(String functionName, String callingConvention);

    /**
     * Returns the reference types that the module provides: those that type tables of importing modules may name.
     *
     * @return Java types by name, without the leading {@code !}; unmodifiable, empty for most
     */
    default Map<String, Class<?>> referenceTypes() {
        return Map.of();
    }

    /**
     * Creates the module's state for a context.
     *
     * @param options limits that hold in the context
     * @return the state, owned by the caller
     */
    VmModuleState createState(ContextOptions options);
}
