package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;

/** The state of a module in a context: globals, linked imports, the state object of a Java module. Belongs to the thread of the context. */
@NotForApplications
public interface VmModuleState extends AutoCloseable {
    /**
     * Attaches the state to the context. Called once, before any other method. The context outlives the state, so the
     * state need not retain the context.
     *
     * @param context the context
     */
    default void attach(Context context) {}

    /**
     * Binds an import to the function found. Called once for each import found, before any function runs. An absent
     * optional import stays unbound.
     *
     * @param importOrdinal index in {@link VmModule#imports()}
     * @param function the function found, in an earlier module
     * @param target the function bound to the earlier module's state
     */
    void link(int importOrdinal, VmFunction function, VmCallable target);

    /**
     * Binds an export of the module to this state.
     *
     * @param export an element of the module's {@link VmModule#exports()}
     * @return the bound function
     */
    VmCallable callable(VmFunction export);

    /** Releases everything held by the state. Called once, after the last call. */
    @Override
    void close();
}
