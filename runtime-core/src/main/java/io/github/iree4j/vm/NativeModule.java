package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A module written in Java. Immutable; each context has a separate state object.
 *
 * <pre>{@code
 * VmModule clock = NativeModule.builder("clock", 1, Clock::systemUTC)
 *     .function("now", "0v_I", (c, call) -> call.returnI64(c.millis()))
 *     .build();
 * }</pre>
 */
@NotForApplications
public final class NativeModule implements VmModule {
    private final String name;
    private final int version;
    private final Map<String, String> attributes;
    private final List<VmDependency> dependencies;
    private final List<VmFunction> exports;
    private final Map<String, List<VmFunction>> exportsByName = new HashMap<>();
    private final Supplier<VmModuleState> states;

    private <S> NativeModule(Builder<S> builder) {
        name = builder.name;
        version = builder.version;
        attributes = Map.copyOf(builder.attributes);
        dependencies = List.copyOf(builder.dependencies);
        List<VmFunction> functions = new ArrayList<>();
        List<NativeFunction<S>> bodies = new ArrayList<>();
        for (Declaration<S> declaration : builder.declarations) {
            VmFunction function = new VmFunction(
                    this, functions.size(), declaration.name, declaration.convention, declaration.attributes);
            functions.add(function);
            bodies.add(declaration.body);
            exportsByName
                    .computeIfAbsent(declaration.name, n -> new ArrayList<>())
                    .add(function);
        }
        exports = List.copyOf(functions);
        Supplier<S> stateFactory = builder.stateFactory;
        states = () -> new State<>(stateFactory.get(), bodies);
    }

    /**
     * Returns a builder of a module.
     *
     * @param name the name used by imports, without a dot
     * @param version the version checked against dependencies
     * @param stateFactory creates the state of a context; an {@link AutoCloseable} state is closed with the context
     * @param <S> the state
     * @return the builder
     */
    public static <S> Builder<S> builder(String name, int version, Supplier<S> stateFactory) {
        if (name.isEmpty() || name.indexOf('.') >= 0) {
            throw new IllegalArgumentException("module name '" + name + "' must not be empty or contain a dot");
        }
        return new Builder<>(name, version, stateFactory);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int version() {
        return version;
    }

    @Override
    public Map<String, String> attributes() {
        return attributes;
    }

    @Override
    public List<VmDependency> dependencies() {
        return dependencies;
    }

    @Override
    public List<VmImport> imports() {
        return List.of();
    }

    @Override
    public List<VmFunction> exports() {
        return exports;
    }

    @Override
    public @Nullable VmFunction resolve(String functionName, String callingConvention) {
        List<VmFunction> candidates = exportsByName.getOrDefault(functionName, List.of());
        for (VmFunction candidate : candidates) {
            if (callingConvention.isEmpty() || candidate.convention().text().equals(callingConvention)) {
                return candidate;
            }
        }
        if (!candidates.isEmpty()) {
            CallingConvention wanted = CallingConvention.parse(callingConvention);
            for (VmFunction candidate : candidates) {
                if (candidate.convention().matches(wanted)) {
                    return candidate;
                }
            }
        }
        return null;
    }

    @Override
    public VmModuleState createState(ContextOptions options) {
        return states.get();
    }

    @Override
    public String toString() {
        return name;
    }

    private static final class State<S> implements VmModuleState {
        private final S state;
        private final List<NativeFunction<S>> bodies;

        State(S state, List<NativeFunction<S>> bodies) {
            this.state = state;
            this.bodies = bodies;
        }

        @Override
        public void link(int importOrdinal, VmFunction function, VmCallable target) {
            throw IreeException.of(StatusCode.INTERNAL, "a module written in Java has no imports");
        }

        @Override
        public VmCallable callable(VmFunction export) {
            return new Bound<>(bodies.get(export.ordinal()), state);
        }

        @Override
        public void close() {
            if (state instanceof AutoCloseable closeable) {
                try {
                    closeable.close();
                } catch (IreeException e) {
                    throw e;
                } catch (Exception e) {
                    throw IreeException.of(StatusCode.INTERNAL, "state of a module failed to close: " + e, e);
                }
            }
        }
    }

    private record Bound<S>(NativeFunction<S> body, S state) implements VmCallable {
        @Override
        public void call(VmCall call) {
            try {
                body.call(state, call);
            } catch (IreeException e) {
                throw e.during("in '" + call.function().fullName() + "'");
            } catch (RuntimeException e) {
                throw IreeException.of(
                        StatusCode.INTERNAL,
                        "'%s' failed unexpectedly: %s".formatted(call.function().fullName(), e),
                        e);
            }
        }
    }

    private record Declaration<S>(
            String name, CallingConvention convention, NativeFunction<S> body, Map<String, String> attributes) {}

    /**
     * Builder of a module.
     *
     * @param <S> the module's state per context
     */
    public static final class Builder<S> {
        private final String name;
        private final int version;
        private final Supplier<S> stateFactory;
        private final Map<String, String> attributes = new LinkedHashMap<>();
        private final List<VmDependency> dependencies = new ArrayList<>();
        private final List<Declaration<S>> declarations = new ArrayList<>();

        private Builder(String name, int version, Supplier<S> stateFactory) {
            this.name = name;
            this.version = version;
            this.stateFactory = stateFactory;
        }

        /**
         * Adds a function. Several functions may share a name if the conventions differ.
         *
         * @param functionName the name within the module
         * @param callingConvention for example {@code 0rI_r}, see {@link CallingConvention}
         * @param body the implementation
         * @return this builder
         */
        public Builder<S> function(String functionName, String callingConvention, NativeFunction<S> body) {
            CallingConvention convention = CallingConvention.parse(callingConvention);
            for (Declaration<S> other : declarations) {
                if (other.name.equals(functionName) && other.convention.matches(convention)) {
                    throw new IllegalArgumentException("function '%s.%s' with convention '%s' is defined twice"
                            .formatted(name, functionName, callingConvention));
                }
            }
            declarations.add(new Declaration<>(functionName, convention, body, new LinkedHashMap<>()));
            return this;
        }

        /**
         * Adds a reflection attribute to the function added last, or to the module if no function has been added yet.
         *
         * @param key for example {@code iree.abi.declaration}
         * @param value the value
         * @return this builder
         */
        public Builder<S> attribute(String key, String value) {
            (declarations.isEmpty() ? attributes : declarations.getLast().attributes).put(key, value);
            return this;
        }

        /**
         * Adds a module that must be linked before this module.
         *
         * @param dependency the module and the lowest version
         * @return this builder
         */
        public Builder<S> dependency(VmDependency dependency) {
            dependencies.add(dependency);
            return this;
        }

        /**
         * Builds the module.
         *
         * @return the module
         */
        public NativeModule build() {
            return new NativeModule(this);
        }
    }
}
