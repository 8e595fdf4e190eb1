package io.github.iree4j.modules;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmModule;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.Assertions;

/**
 * Calls functions of modules written in Java as a program would: Integer, Long, Float, Double and references by convention, a
 * {@code List<List<?>>} for a span.
 */
public final class ModuleCalls implements AutoCloseable {
    /** A null reference in place of a forbidden null in a list. */
    public static final Object NULL = new Object();

    private final VmModule module;
    private final Context context;

    /** Links a module in a separate context. */
    public ModuleCalls(VmModule module) {
        this.module = module;
        this.context = Context.create(List.of(module), ContextOptions.DEFAULTS);
    }

    /** Calls a function and returns the results; references inside belong to the caller. */
    public List<Object> call(String name, String convention, Object... arguments) {
        VmFunction function = module.resolve(name, convention);
        assertThat(function).as(name + " with convention " + convention).isNotNull();
        try (Invocation call = context.invocation(function)) {
            for (Object argument : arguments) {
                pass(call, argument);
            }
            call.run();
            List<Object> results = new ArrayList<>();
            for (char letter : function.convention().results().toCharArray()) {
                results.add(
                        switch (letter) {
                            case 'i' -> call.i32();
                            case 'I' -> call.i64();
                            case 'f' -> call.f32();
                            case 'F' -> call.f64();
                            case 'r' -> call.takeRef(Object.class);
                            default -> throw new AssertionError(letter);
                        });
            }
            return results;
        }
    }

    /** Returns the only result of a call. */
    @SuppressWarnings("unchecked")
    public <T> T one(String name, String convention, Object... arguments) {
        List<Object> results = call(name, convention, arguments);
        assertThat(results).hasSize(1);
        return (T) results.getFirst();
    }

    /** Returns the failure of a call expected to fail; checks the code unless {@code code} is null. */
    public IreeException failure(StatusCode code, String name, String convention, Object... arguments) {
        IreeException failure =
                Assertions.catchThrowableOfType(IreeException.class, () -> call(name, convention, arguments));
        assertThat(failure).as("failure of " + name).isNotNull();
        if (code != null) {
            assertThat(failure.code()).as(failure.toString()).isEqualTo(code);
        }
        return failure;
    }

    private static void pass(Invocation call, Object argument) {
        switch (argument) {
            case null -> call.ref((Object) null);
            case Integer value -> call.i32(value);
            case Long value -> call.i64(value);
            case Float value -> call.f32(value);
            case Double value -> call.f64(value);
            case List<?> tuples -> {
                call.span(tuples.size());
                for (Object tuple : tuples) {
                    for (Object element : (List<?>) tuple) {
                        pass(call, element);
                    }
                }
            }
            default -> call.ref(argument == NULL ? (Object) null : argument);
        }
    }

    @Override
    public void close() {
        context.close();
    }
}
