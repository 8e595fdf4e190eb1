package io.github.iree4j.vm;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A set of functions under one name: compiled bytecode or Java. Immutable and safe to share between contexts and threads; what changes
 * while programs run is in the {@link VmModuleState} of each context.
 */
public interface VmModule {
    /**
     * Key of the attribute in which a module says which compilers wrote the programs it can serve, for the messages that others get; for
     * example {@code IREE of March 2023 to August 2026}.
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
     * Returns the modules that must come before this one.
     *
     * @return unmodifiable
     */
    List<VmDependency> dependencies();

    /**
     * Returns the functions it calls in other modules; the index is the ordinal used in linking.
     *
     * @return unmodifiable
     */
    List<VmImport> imports();

    /**
     * Returns the functions it offers.
     *
     * @return unmodifiable
     */
    List<VmFunction> exports();

    /**
     * Finds an export. Several may share a name and differ in convention, as generations of an interface do.
     *
     * @param functionName its name within the module
     * @param callingConvention the convention it must have; empty means any
     * @return the export, or null when there is none
     */
    @Nullable
    VmFunction resolve(String functionName, String callingConvention);

    /**
     * Returns the reference types that the module brings along: what type tables of modules that import from it may name.
     *
     * @return Java types by name, without the leading {@code !}; unmodifiable, empty for most
     */
    default Map<String, Class<?>> referenceTypes() {
        return Map.of();
    }

    /**
     * Creates what the module keeps per context.
     *
     * @param options limits that hold in the context
     * @return the state, owned by the caller
     */
    VmModuleState createState(ContextOptions options);
}
