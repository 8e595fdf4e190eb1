package io.github.iree4j.spring.client;

import io.github.iree4j.CallOptions;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ResultType;
import io.github.iree4j.Submission;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.InvocationSpec;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.status.IreeException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiPredicate;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.ResolvableType;
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
    private final CallOptions options;
    private final List<ArgumentMapper> arguments;
    private final List<Class<?>> inputs;
    private final @Nullable List<Class<?>> results;
    private final Function<InvocationSpec, @Nullable Object> making;

    private ClientMethod(
            InvocationOperations invocations,
            String text,
            String program,
            String function,
            @Nullable String version,
            CallOptions options,
            List<ArgumentMapper> arguments,
            List<Class<?>> inputs,
            @Nullable List<Class<?>> results,
            Function<InvocationSpec, @Nullable Object> making) {
        this.invocations = invocations;
        this.text = text;
        this.program = program;
        this.function = function;
        this.version = version;
        this.options = options;
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
            String timeout = annotation == null ? "" : resolve(placeholders, annotation.timeout());
            List<ArgumentMapper> arguments = new ArrayList<>();
            List<Class<?>> inputs = new ArrayList<>();
            for (Type type : method.getGenericParameterTypes()) {
                arguments.add(ArgumentMapper.of(type));
                inputs.addAll(ArgumentMapper.types(type));
            }
            Type result = method.getGenericReturnType();
            Type later = later(result);
            Type value = later == null ? result : later;
            ResultType<?> results = ResultType.of(value);
            return new ClientMethod(
                    invocations,
                    text,
                    program,
                    name.isEmpty() ? method.getName() : name,
                    version.isEmpty() ? null : version,
                    CallOptions.DEFAULTS
                            .timeout(timeout.isEmpty() ? null : DurationStyle.detectAndParse(timeout))
                            .priority(annotation == null ? 0 : annotation.priority()),
                    arguments,
                    inputs,
                    results.count() < 0 ? null : ArgumentMapper.types(value),
                    making(result, later != null, results));
        } catch (IllegalArgumentException | IreeException e) { // the latter for a negative timeout
            throw new IreeClientException(
                    text + " cannot be mapped to a function: " + e.getMessage(),
                    "Correct the method. The documentation of @IreeClient lists the types of arguments and results.",
                    e);
        }
    }

    private static String resolve(StringValueResolver placeholders, String text) {
        return String.valueOf(placeholders.resolveStringValue(text));
    }

    /** Returns the type of the values of submissions, futures and monos; null for a type that is the value's. */
    private static @Nullable Type later(Type type) {
        return type instanceof ParameterizedType generic
                        && generic.getRawType() instanceof Class<?> raw
                        && (raw == Submission.class || isFuture(raw) || REACTOR && ClientMono.isMono(raw))
                ? generic.getActualTypeArguments()[0]
                : null;
    }

    private static boolean isFuture(Class<?> type) {
        return type == IreeFuture.class || type == CompletableFuture.class || type == CompletionStage.class;
    }

    private static Function<InvocationSpec, @Nullable Object> making(
            Type type, boolean isLater, ResultType<?> results) {
        if (!isLater) {
            return spec -> spec.retrieve(results);
        }
        Class<?> raw = ResolvableType.forType(type).toClass();
        if (raw == Submission.class) {
            if (results.copies()) {
                throw new IllegalArgumentException(
                        "a submission has results without contents: a Tensor, Results or a record of tensors, and nothing to copy");
            }
            return spec -> results.read(spec.submit());
        }
        return isFuture(raw) ? spec -> spec.retrieveAsync(results) : spec -> ClientMono.of(spec, results);
    }

    /** Requires that a program has the function, with arguments and results of the number and types of the method. */
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
        require("passes", inputs, "argument", "takes", called.arguments(), DeclaredTypes::takes, called);
        if (results != null) {
            require("returns", results, "result", "returns", called.results(), DeclaredTypes::returns, called);
        }
    }

    private void require(
            String passes,
            List<Class<?>> own,
            String value,
            String takes,
            List<ValueDeclaration> declared,
            BiPredicate<ValueDeclaration, Class<?>> fits,
            ProgramFunction called) {
        if (own.size() != declared.size()) {
            throw new IreeClientException(
                    "%s %s %d values, and function '%s.%s' %s %d: %s"
                            .formatted(
                                    text,
                                    passes,
                                    own.size(),
                                    program,
                                    function,
                                    takes,
                                    declared.size(),
                                    called.declaration()),
                    "Correct the method: each argument of the function is an argument or a component of a record, several results are the components of a record.",
                    null);
        }
        for (int i = 0; i < own.size(); i++) {
            if (!fits.test(declared.get(i), own.get(i))) {
                throw new IreeClientException(
                        "%s %s %s as %s %d, and function '%s.%s' %s %s: %s"
                                .formatted(
                                        text,
                                        passes,
                                        own.get(i).getSimpleName(),
                                        value,
                                        i,
                                        program,
                                        function,
                                        takes,
                                        declared.get(i).type(),
                                        called.declaration()),
                        "Correct the type in the method.",
                        null);
            }
        }
    }

    @Nullable
    Object call(@Nullable Object[] values) {
        List<@Nullable Object> given = new ArrayList<>(values.length);
        CallOptions own = CallOptions.DEFAULTS;
        for (int i = 0; i < values.length; i++) {
            if (values[i] instanceof CallOptions passed) {
                own = passed;
            } else {
                arguments.get(i).add(values[i], given);
            }
        }
        InvocationSpec spec = invocations.request(program + "." + function).inputs(given.toArray());
        CallOptions used = with(own);
        if (!used.equals(CallOptions.DEFAULTS)) {
            spec = spec.options(used);
        }
        return making.apply(version == null ? spec : spec.version(version));
    }

    /** Returns options of a call, completed by the options of the method. */
    private CallOptions with(CallOptions own) {
        if (own.equals(CallOptions.DEFAULTS)) {
            return options;
        }
        CallOptions timed =
                own.timeout().isPresent() ? own : own.timeout(options.timeout().orElse(null));
        return timed.priority() != 0 ? timed : timed.priority(options.priority());
    }
}
