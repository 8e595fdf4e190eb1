package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Modules linked together, with their state: the environment in which a program runs.
 *
 * <p>Modules are linked in order. For each module, dependencies are checked, imports are resolved among the preceding
 * modules, and {@code __init} runs. Closing runs {@code __deinit} in reverse order and releases the states. An
 * invocation retains the context from the first run until the invocation is reset or closed, so successive calls need
 * not count references. The last holder frees the context. An invocation ending after the context has been closed
 * releases the context at once.
 *
 * <p>Belongs to one thread at a time: callers run only one invocation at a time. Contexts share everything immutable,
 * so creating a context takes microseconds apart from {@code __init}.
 */
@NotForApplications
public final class Context extends Resource {
    private static final String INIT = "__init";
    private static final String DEINIT = "__deinit";

    /** The longest time for a {@code __deinit} before it is cancelled, so that closing terminates. */
    private static final long DEINIT_PATIENCE = TimeUnit.SECONDS.toNanos(10);

    private final ContextOptions options;
    private final List<VmModule> modules = new ArrayList<>();
    private final List<VmModuleState> states = new ArrayList<>();

    private volatile boolean callsCancelled;

    private Context(ContextOptions options) {
        this.options = options;
    }

    /**
     * Links modules.
     *
     * @param modules in order; a module can import from preceding modules. the context does not close the modules
     * @param options limits on the resources of programs
     * @return the context, owned by the caller
     * @throws IreeException NOT_FOUND for a missing module, version or import, INTERNAL for an import with another
     *     convention, CANCELLED when the thread is interrupted while an {@code __init} runs, or the failure of an
     *     {@code __init}; on failure, everything created is released
     */
    public static Context create(List<? extends VmModule> modules, ContextOptions options) {
        return create(modules, options, () -> false);
    }

    /**
     * Links modules, as {@link #create(List, ContextOptions)} does, unless linking is abandoned meanwhile.
     *
     * @param modules in order
     * @param options limits on the resources of programs
     * @param givenUp ends a running {@code __init} with CANCELLED; returns quickly, and stays true once true. Not kept
     * @return the context, owned by the caller
     * @throws IreeException as {@link #create(List, ContextOptions)}
     */
    public static Context create(List<? extends VmModule> modules, ContextOptions options, BooleanSupplier givenUp) {
        Context context = new Context(options);
        try {
            for (VmModule module : modules) {
                context.add(module, givenUp);
            }
        } catch (Throwable e) {
            context.close();
            throw e;
        }
        return context;
    }

    /**
     * Returns the modules.
     *
     * @return the modules in link order
     */
    public List<VmModule> modules() {
        return List.copyOf(modules);
    }

    /**
     * Returns the limits on the resources of programs.
     *
     * @return the options
     */
    public ContextOptions options() {
        return options;
    }

    /**
     * Finds an export.
     *
     * @param fullName {@code module.function}
     * @return the function, or null when the module or the function does not exist
     */
    public @Nullable VmFunction function(String fullName) {
        int dot = fullName.indexOf('.');
        if (dot < 0) {
            return null;
        }
        int index = indexOf(fullName.substring(0, dot));
        return index < 0 ? null : modules.get(index).resolve(fullName.substring(dot + 1), "");
    }

    /**
     * Creates an invocation of a function.
     *
     * @param function an export of a module of this context
     * @return a reusable invocation; closed by the caller
     */
    public Invocation invocation(VmFunction function) {
        checkLive();
        return new Invocation(this, function, states.get(indexOf(function)).callable(function));
    }

    /**
     * Creates an invocation for functions written in Java that make calls while being called; see
     * {@link Invocation#runWithin}.
     *
     * @param function an export of a module of this context
     * @return a reusable invocation that does not retain the context; closed by the caller
     */
    public Invocation nestedInvocation(VmFunction function) {
        return new Invocation(null, function, states.get(indexOf(function)).callable(function));
    }

    private int indexOf(VmFunction function) {
        int index = modules.indexOf(function.module());
        if (index < 0) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "'%s' belongs to no module of this context (%s)".formatted(function.fullName(), moduleNames()));
        }
        return index;
    }

    /**
     * Makes all present and later calls fail with CANCELLED soon, as {@link Invocation#cancel} does, except that a
     * thread blocked until a call can resume is not woken. Hooks still run. Safe from any thread.
     */
    public void cancelCalls() {
        callsCancelled = true;
    }

    boolean areCallsCancelled() {
        return callsCancelled;
    }

    /** Whether invocations should release the context: it is closed. */
    boolean isGivenUp() {
        return isClosed();
    }

    @Override
    protected String describe() {
        return "context of " + moduleNames();
    }

    @Override
    protected void destroy() {
        for (int i = states.size() - 1; i >= 0; i--) {
            runHook(i, DEINIT, true, () -> false);
        }
        for (int i = states.size() - 1; i >= 0; i--) {
            try {
                states.get(i).close();
            } catch (RuntimeException e) {
                warn("module '" + modules.get(i).name() + "' failed to close its state", e);
            }
        }
        states.clear();
    }

    private void add(VmModule module, BooleanSupplier givenUp) {
        checkDependencies(module);
        VmModuleState state = module.createState(options);
        try {
            state.attach(this);
            link(module, state);
        } catch (Throwable e) {
            state.close();
            throw e;
        }
        modules.add(module);
        states.add(state);
        runHook(modules.size() - 1, INIT, false, givenUp);
    }

    private void checkDependencies(VmModule module) {
        for (VmDependency dependency : module.dependencies()) {
            if (!dependency.required()) {
                continue;
            }
            int index = indexOf(dependency.module());
            if (index < 0) {
                throw IreeException.of(
                        StatusCode.NOT_FOUND,
                        "module '%s' needs module '%s' of version %s or later, which is missing (linked before it: %s)"
                                .formatted(
                                        module.name(),
                                        dependency.module(),
                                        Integer.toUnsignedString(dependency.minimumVersion()),
                                        moduleNames()),
                        null,
                        new UnresolvedImport(module.name(), dependency.module(), false));
            }
            int version = modules.get(index).version();
            if (Integer.compareUnsigned(version, dependency.minimumVersion()) < 0) {
                throw IreeException.of(
                        StatusCode.NOT_FOUND,
                        "module '%s' needs module '%s' of version %s or later, found version %s%s"
                                .formatted(
                                        module.name(),
                                        dependency.module(),
                                        Integer.toUnsignedString(dependency.minimumVersion()),
                                        Integer.toUnsignedString(version),
                                        serves(modules.get(index))),
                        null,
                        new UnresolvedImport(module.name(), dependency.module(), true));
            }
        }
    }

    private void link(VmModule module, VmModuleState state) {
        List<VmImport> imports = module.imports();
        for (int i = 0; i < imports.size(); i++) {
            VmImport wanted = imports.get(i);
            int index = indexOf(wanted.module());
            VmFunction found =
                    index < 0 ? null : modules.get(index).resolve(wanted.function(), wanted.callingConvention());
            if (found != null) {
                state.link(i, found, states.get(index).callable(found));
            } else if (wanted.required() || (index >= 0 && hasFunction(modules.get(index), wanted.function()))) {
                throw unresolved(module, wanted, index);
            }
        }
    }

    private static boolean hasFunction(VmModule module, String function) {
        return module.resolve(function, "") != null;
    }

    /** Returns the releases that the module serves, for the end of a message; empty when not declared. */
    private static String serves(VmModule provider) {
        String releases = provider.attributes().get(VmModule.SERVES);
        return releases == null ? "" : "; programs compiled by " + releases + " can use it";
    }

    private IreeException unresolved(VmModule module, VmImport wanted, int index) {
        String what = "module '%s' imports '%s' with convention '%s'"
                .formatted(module.name(), wanted.fullName(), wanted.callingConvention());
        if (index < 0) {
            return IreeException.of(
                    StatusCode.NOT_FOUND,
                    "%s, but there is no module '%s' (linked before it: %s)"
                            .formatted(what, wanted.module(), moduleNames()),
                    null,
                    new UnresolvedImport(module.name(), wanted.module(), false));
        }
        VmModule provider = modules.get(index);
        List<String> available = provider.exports().stream()
                .filter(f -> f.name().equals(wanted.function()))
                .map(f -> "'" + f.convention() + "'" + (f.declaration().isEmpty() ? "" : " (" + f.declaration() + ")"))
                .toList();
        if (available.isEmpty()) {
            return IreeException.of(
                    StatusCode.NOT_FOUND,
                    "%s, but module '%s' of version %s has no such function (linked before it: %s)%s"
                            .formatted(
                                    what,
                                    provider.name(),
                                    Integer.toUnsignedString(provider.version()),
                                    moduleNames(),
                                    serves(provider)),
                    null,
                    new UnresolvedImport(module.name(), wanted.module(), true));
        }
        return IreeException.of(
                StatusCode.INTERNAL,
                "%s, but module '%s' of version %s has it with %s; recompile for this version%s"
                        .formatted(
                                what,
                                provider.name(),
                                Integer.toUnsignedString(provider.version()),
                                String.join(", ", available),
                                serves(provider)),
                null,
                new UnresolvedImport(module.name(), wanted.module(), true));
    }

    private void runHook(int index, String name, boolean closing, BooleanSupplier givenUp) {
        VmModule module = modules.get(index);
        VmFunction hook = module.resolve(name, "");
        if (hook == null) {
            return;
        }
        try {
            if (!hook.convention().matches(CallingConvention.VOID)) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "'%s' has convention '%s' where '0v_v' is wanted"
                                .formatted(hook.fullName(), hook.convention()));
            }
            // Not through invocation(): a context being freed cannot be retained.
            Invocation.runHook(
                    hook, states.get(index).callable(hook), closing ? DEINIT_PATIENCE : Long.MAX_VALUE, givenUp);
        } catch (RuntimeException e) {
            if (!closing) {
                throw e;
            }
            warn("'" + hook.fullName() + "' failed", e);
        }
    }

    private static void warn(String what, RuntimeException e) {
        org.slf4j.LoggerFactory.getLogger(Context.class).warn(what, e);
    }

    /** Finds the module registered last under a name. */
    private int indexOf(String name) {
        for (int i = modules.size() - 1; i >= 0; i--) {
            if (modules.get(i).name().equals(name)) {
                return i;
            }
        }
        return -1;
    }

    private String moduleNames() {
        return modules.isEmpty() ? "none" : modules.stream().map(VmModule::name).collect(Collectors.joining(", "));
    }
}
