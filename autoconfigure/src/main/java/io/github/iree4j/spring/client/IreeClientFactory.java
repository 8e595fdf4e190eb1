package io.github.iree4j.spring.client;

import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.StringValueResolver;

/** Creates implementations of {@link IreeClient} interfaces. The factory and the clients are thread-safe. */
public final class IreeClientFactory {

    private final InvocationOperations invocations;
    private final StringValueResolver placeholders;
    private final @Nullable Programs programs;

    /**
     * Creates a factory that takes the annotations literally and checks no programs.
     *
     * @param invocations makes the calls
     */
    public IreeClientFactory(InvocationOperations invocations) {
        this(invocations, text -> text, null);
    }

    /**
     * Creates a factory.
     *
     * @param invocations makes the calls
     * @param placeholders resolves placeholders in the texts of the annotations
     * @param programs requires of each client that the program and version are known, and of each program that is
     *     loaded from then on, or was loaded before, the functions of the client: a client without a version requires
     *     the functions of the latest known version only; null to leave all to the calls
     */
    public IreeClientFactory(
            InvocationOperations invocations, StringValueResolver placeholders, @Nullable Programs programs) {
        this.invocations = invocations;
        this.placeholders = placeholders;
        this.programs = programs;
    }

    /**
     * Creates a client.
     *
     * @param type the interface
     * @return the client
     * @param <T> the interface
     * @throws IllegalArgumentException when the type is not an interface with {@link IreeClient}; an {@link
     *     IreeClientException} when a method cannot be mapped to a function, or the program does not fit; the message
     *     names the interface, and the method
     */
    @SuppressWarnings("ReferenceEquality") // identity, as in Object.equals
    public <T> T create(Class<T> type) {
        IreeClient client = AnnotatedElementUtils.findMergedAnnotation(type, IreeClient.class);
        if (!type.isInterface() || client == null) {
            throw new IllegalArgumentException("'%s' is not an interface with @IreeClient".formatted(type.getName()));
        }
        String program = resolve(type, client.value());
        String version = resolve(type, client.version());
        Map<Method, ClientMethod> methods = new HashMap<>();
        for (Method method : type.getMethods()) {
            if (Modifier.isAbstract(method.getModifiers())) {
                methods.put(method, ClientMethod.of(program, version, method, invocations, placeholders));
            }
        }
        if (programs != null) {
            require(programs, type, program, version);
            programs.addCheck(loaded -> {
                ProgramSource source = loaded.source();
                if (source.name().equals(program)
                        && source.version().equals(version.isEmpty() ? latest(programs, program) : version)) {
                    methods.values().forEach(method -> method.check(loaded));
                }
            });
        }
        String description = "client of program '%s' (%s)".formatted(program, type.getSimpleName());
        InvocationHandler handler = (proxy, method, arguments) -> {
            Object[] values = arguments == null ? new Object[0] : arguments;
            ClientMethod function = methods.get(method);
            if (function != null) {
                return function.call(values);
            }
            if (method.isDefault()) {
                return InvocationHandler.invokeDefault(proxy, method, values);
            }
            return switch (method.getName()) { // methods of Object
                case "equals" -> proxy == values[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> description;
            };
        };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private String resolve(Class<?> type, String text) {
        try {
            return String.valueOf(placeholders.resolveStringValue(text));
        } catch (IllegalArgumentException e) {
            throw new IreeClientException(
                    "@IreeClient '%s' names no program: %s".formatted(type.getName(), e.getMessage()),
                    "Set the property of the placeholder, or give it a default, as in '${name:default}'.",
                    e);
        }
    }

    /** The latest known version, loaded or not. Whether calls ever go to an earlier version is unknown. */
    private static @Nullable String latest(Programs programs, String program) {
        List<String> versions = versions(programs, program);
        return versions.isEmpty() ? null : versions.getFirst();
    }

    private static List<String> versions(Programs programs, String program) {
        return programs.versions(program).stream()
                .map(status -> status.source().version())
                .toList();
    }

    private static void require(Programs programs, Class<?> type, String program, String version) {
        List<String> versions = versions(programs, program);
        if (versions.isEmpty()) {
            throw new IreeClientException(
                    "@IreeClient '%s' calls program '%s', which does not exist; there are %s"
                            .formatted(
                                    type.getName(),
                                    program,
                                    programs.statuses().stream()
                                            .map(status -> status.source().name())
                                            .distinct()
                                            .toList()),
                    "Set 'iree.modules.%s.location', or correct the name in the annotation. A program that the application defines itself must be defined ('Programs.define') while its beans are created."
                            .formatted(program),
                    null);
        }
        if (!version.isEmpty() && !versions.contains(version)) {
            throw new IreeClientException(
                    "@IreeClient '%s' calls version '%s' of program '%s', which does not exist; there are %s"
                            .formatted(type.getName(), version, program, versions),
                    "Set 'iree.modules.%s.versions.%s.location', or correct the version in the annotation."
                            .formatted(program, version),
                    null);
        }
    }
}
