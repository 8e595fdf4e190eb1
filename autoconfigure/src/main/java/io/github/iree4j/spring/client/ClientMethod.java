package io.github.iree4j.spring.client;

import io.github.iree4j.CallOptions;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.InvocationSpec;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.status.IreeException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringValueResolver;

/** A client method, parsed once. */
final class ClientMethod {
    private static final boolean REACTOR =
            ClassUtils.isPresent("reactor.core.publisher.Mono", ClientMethod.class.getClassLoader());

    private final InvocationOperations invocations;
    private final String text;
    private final String program;
    private final String function;
    private final @Nullable String version;
    private final @Nullable Duration deadline;
    private final int priority;
    private final List<ArgumentMapper> arguments;
    private final int inputs;
    private final int results;
    private final Function<InvocationSpec, @Nullable Object> making;

    private ClientMethod(
            InvocationOperations invocations,
            String text,
            String program,
            String function,
            @Nullable String version,
            @Nullable Duration deadline,
            int priority,
            List<ArgumentMapper> arguments,
            int inputs,
            int results,
            Function<InvocationSpec, @Nullable Object> making) {
        this.invocations = invocations;
        this.text = text;
        this.program = program;
        this.function = function;
        this.version = version;
        this.deadline = deadline;
        this.priority = priority;
        this.arguments = arguments;
        this.inputs = inputs;
        this.results = results;
        this.making = making;
    }

    static ClientMethod of(
            String program,
            String version,
            Method method,
            InvocationOperations invocations,
            StringValueResolver placeholders) {
        IreeFunction annotation = AnnotatedElementUtils.findMergedAnnotation(method, IreeFunction.class);
        String text = "method '%s' of @IreeClient '%s'"
                .formatted(method.getName(), method.getDeclaringClass().getName());
        try {
            String name = annotation == null ? "" : resolve(placeholders, annotation.value());
            String deadline = annotation == null ? "" : resolve(placeholders, annotation.deadline());
            List<ArgumentMapper> arguments = new ArrayList<>();
            int inputs = 0;
            for (Type type : method.getGenericParameterTypes()) {
                arguments.add(ArgumentMapper.of(type));
                inputs += ArgumentMapper.count(type);
            }
            Type result = method.getGenericReturnType();
            Type later = later(result);
            return new ClientMethod(
                    invocations,
                    text,
                    program,
                    name.isEmpty() ? method.getName() : name,
                    version.isEmpty() ? null : version,
                    deadline.isEmpty() ? null : DurationStyle.detectAndParse(deadline),
                    annotation == null ? 0 : annotation.priority(),
                    arguments,
                    inputs,
                    ResultMapper.count(later == null ? result : later),
                    making(result, later));
        } catch (IllegalArgumentException e) {
            throw new IreeClientException(
                    text + " cannot be mapped to a function: " + e.getMessage(),
                    "Correct the method. The documentation of @IreeClient lists the types of arguments and results.",
                    e);
        }
    }

    private static String resolve(StringValueResolver placeholders, String text) {
        return String.valueOf(placeholders.resolveStringValue(text));
    }

    /** Returns the type of the values of futures and monos; null for a type that is the value's. */
    private static @Nullable Type later(Type type) {
        return type instanceof ParameterizedType generic
                        && generic.getRawType() instanceof Class<?> raw
                        && (isFuture(raw) || REACTOR && ClientMono.isMono(raw))
                ? generic.getActualTypeArguments()[0]
                : null;
    }

    private static boolean isFuture(Class<?> type) {
        return type == CompletableFuture.class || type == CompletionStage.class;
    }

    private static Function<InvocationSpec, @Nullable Object> making(Type type, @Nullable Type later) {
        ResultMapper mapper = ResultMapper.of(later == null ? type : later);
        if (later == null) {
            return spec -> mapper.read(spec.invoke());
        }
        return type instanceof ParameterizedType generic
                        && generic.getRawType() instanceof Class<?> raw
                        && isFuture(raw)
                ? spec -> later(spec.invokeAsync(), mapper)
                : spec -> ClientMono.of(spec, mapper);
    }

    /** Requires that a program has the function, with as many arguments and results as the method. */
    void check(LoadedProgram loaded) {
        ProgramFunction called;
        try {
            called = loaded.program().function(function);
        } catch (IreeException e) {
            throw new IreeClientException(
                    "%s calls '%s.%s', and the program has no such function; it has %s"
                            .formatted(
                                    text,
                                    program,
                                    function,
                                    loaded.program().functions().stream()
                                            .map(ProgramFunction::name)
                                            .toList()),
                    "Correct the name of the method, or name the function with @IreeFunction.",
                    e);
        }
        require("passes", inputs, "takes", called.argumentKinds().length(), called);
        if (results >= 0) {
            require("returns", results, "returns", called.resultKinds().length(), called);
        }
    }

    private void require(String passes, int own, String takes, int wanted, ProgramFunction called) {
        if (own != wanted) {
            throw new IreeClientException(
                    "%s %s %d values, and function '%s.%s' %s %d: %s"
                            .formatted(text, passes, own, program, function, takes, wanted, called.declaration()),
                    "Correct the method: each argument of the function is an argument or a component of a record, several results are the components of a record.",
                    null);
        }
    }

    /** Converts the results of a call later. Completing the returned future early cancels the call. */
    static CompletableFuture<@Nullable Object> later(CompletableFuture<Results> call, ResultMapper mapper) {
        CompletableFuture<@Nullable Object> mapped = new CompletableFuture<>();
        call.whenComplete((results, failure) -> {
            if (failure != null) {
                mapped.completeExceptionally(failure);
                return;
            }
            try {
                Object value = mapper.read(results);
                if (!mapped.complete(value)) {
                    ResultMapper.drop(value);
                }
            } catch (RuntimeException e) {
                mapped.completeExceptionally(e);
            }
        });
        mapped.whenComplete((_, failure) -> {
            if (failure != null) {
                call.completeExceptionally(failure); // no effect on a completed call
            }
        });
        return mapped;
    }

    @Nullable
    Object call(@Nullable Object[] values) {
        List<@Nullable Object> given = new ArrayList<>(values.length);
        CallOptions options = CallOptions.DEFAULTS;
        for (int i = 0; i < values.length; i++) {
            if (values[i] instanceof CallOptions own) {
                options = own;
            } else {
                arguments.get(i).add(values[i], given);
            }
        }
        InvocationSpec spec = invocations
                .request(program + "." + function)
                .inputs(given.toArray())
                .version(version)
                .after(options.after())
                .signal(options.signal())
                .deadline(options.timeout() != null ? options.timeout() : deadline)
                .priority(options.priority() != 0 ? options.priority() : priority);
        return making.apply(spec);
    }
}
