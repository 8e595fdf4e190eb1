package io.github.iree4j.spring.client;

import io.github.iree4j.spring.InvocationOperations;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import org.springframework.core.annotation.AnnotatedElementUtils;

/** Creates implementations of {@link IreeClient} interfaces. The factory and the clients are thread-safe. */
public final class IreeClientFactory {

    private final InvocationOperations invocations;

    /**
     * Creates a factory.
     *
     * @param invocations makes the calls
     */
    public IreeClientFactory(InvocationOperations invocations) {
        this.invocations = invocations;
    }

    /**
     * Creates a client.
     *
     * @param type the interface
     * @return the client
     * @param <T> the interface
     * @throws IllegalArgumentException when the type is not an interface with {@link IreeClient}, or a method cannot be
     *     mapped to a function; the message names the method
     */
    @SuppressWarnings("ReferenceEquality") // identity, as in Object.equals
    public <T> T create(Class<T> type) {
        IreeClient client = AnnotatedElementUtils.findMergedAnnotation(type, IreeClient.class);
        if (!type.isInterface() || client == null) {
            throw new IllegalArgumentException("'%s' is not an interface with @IreeClient".formatted(type.getName()));
        }
        Map<Method, ClientMethod> methods = new HashMap<>();
        for (Method method : type.getMethods()) {
            if (Modifier.isAbstract(method.getModifiers())) {
                methods.put(method, ClientMethod.of(client, method, invocations));
            }
        }
        String description = "client of program '%s' (%s)".formatted(client.value(), type.getSimpleName());
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
}
