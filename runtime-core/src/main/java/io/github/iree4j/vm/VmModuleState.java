package io.github.iree4j.vm;

/** The state of a module in one context: globals, linked imports, a Java module's own object. Belongs to its context's thread. */
public interface VmModuleState extends AutoCloseable {
    /**
     * Attaches the state to its context. Called once, before any other method. The context outlives the state, which need not retain it.
     *
     * @param context the context
     */
    default void attach(Context context) {}

    /**
     * Binds an import to the function found for it. Called once for each import that is found, before any function runs; an optional
     * import that is absent stays unbound.
     *
     * @param importOrdinal index in {@link VmModule#imports()}
     * @param function the function found, in an earlier module
     * @param target how to call it
     */
    void link(int importOrdinal, VmFunction function, VmCallable target);

    /**
     * Returns how to call one of the module's exports on this state.
     *
     * @param export one of the module's {@link VmModule#exports()}
     * @return what to call
     */
    VmCallable callable(VmFunction export);

    /** Releases everything that the state holds. Called once, after the last call. */
    @Override
    void close();
}
