package io.github.iree4j.spring.client;

import io.github.iree4j.CallOptions;
import io.github.iree4j.Results;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.InvocationSpec;
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

/** A client method, parsed once. */
final class ClientMethod {
    private static final boolean REACTOR =
            ClassUtils.isPresent("reactor.core.publisher.Mono", ClientMethod.class.getClassLoader());

    private final InvocationOperations invocations;
    private final String function;
    private final @Nullable String version;
    private final @Nullable Duration deadline;
    private final int priority;
    private final List<ArgumentMapper> arguments;
    private final Function<InvocationSpec, @Nullable Object> making;

    private ClientMethod(
            InvocationOperations invocations,
            String function,
            @Nullable String version,
            @Nullable Duration deadline,
            int priority,
            List<ArgumentMapper> arguments,
            Function<InvocationSpec, @Nullable Object> making) {
        this.invocations = invocations;
        this.function = function;
        this.version = version;
        this.deadline = deadline;
        this.priority = priority;
        this.arguments = arguments;
        this.making = making;
    }

    static ClientMethod of(IreeClient client, Method method, InvocationOperations invocations) {
        IreeFunction annotation = AnnotatedElementUtils.findMergedAnnotation(method, IreeFunction.class);
        String name = annotation == null || annotation.value().isEmpty() ? method.getName() : annotation.value();
        try {
            List<ArgumentMapper> arguments = new ArrayList<>();
            for (Type type : method.getGenericParameterTypes()) {
                arguments.add(ArgumentMapper.of(type));
            }
            return new ClientMethod(
                    invocations,
                    client.value() + "." + name,
                    client.version().isEmpty() ? null : client.version(),
                    annotation == null || annotation.deadline().isEmpty()
                            ? null
                            : DurationStyle.detectAndParse(annotation.deadline()),
                    annotation == null ? 0 : annotation.priority(),
                    arguments,
                    making(method.getGenericReturnType()));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "method '%s' of @IreeClient '%s' cannot be mapped to a function: %s"
                            .formatted(
                                    method.getName(), method.getDeclaringClass().getName(), e.getMessage()),
                    e);
        }
    }

    private static Function<InvocationSpec, @Nullable Object> making(Type type) {
        if (type instanceof ParameterizedType generic && generic.getRawType() instanceof Class<?> raw) {
            Type value = generic.getActualTypeArguments()[0];
            if (raw == CompletableFuture.class || raw == CompletionStage.class) {
                ResultMapper mapper = ResultMapper.of(value);
                return spec -> later(spec.invokeAsync(), mapper);
            }
            if (REACTOR && ClientMono.isMono(raw)) {
                ResultMapper mapper = ResultMapper.of(value);
                return spec -> ClientMono.of(spec, mapper);
            }
        }
        ResultMapper mapper = ResultMapper.of(type);
        return spec -> mapper.read(spec.invoke());
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
        List<@Nullable Object> inputs = new ArrayList<>(values.length);
        CallOptions options = CallOptions.DEFAULTS;
        for (int i = 0; i < values.length; i++) {
            if (values[i] instanceof CallOptions given) {
                options = given;
            } else {
                arguments.get(i).add(values[i], inputs);
            }
        }
        InvocationSpec spec = invocations
                .request(function)
                .inputs(inputs.toArray())
                .version(version)
                .after(options.after())
                .signal(options.signal())
                .deadline(options.timeout() != null ? options.timeout() : deadline)
                .priority(options.priority() != 0 ? options.priority() : priority);
        return making.apply(spec);
    }
}
