package io.github.iree4j.spring.autoconfigure.client;

import io.github.iree4j.spring.client.IreeClientFactoryBean;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotContribution;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.ResolvableType;

/** Hints for native images: the proxy of each client, and the records taken and returned by the client's methods. */
final class IreeClientAotProcessor implements BeanFactoryInitializationAotProcessor {

    /** For Spring. */
    IreeClientAotProcessor() {}

    @Override
    public @Nullable BeanFactoryInitializationAotContribution processAheadOfTime(
            ConfigurableListableBeanFactory beans) {
        String[] names = beans.getBeanNamesForType(IreeClientFactoryBean.class, true, false);
        if (names.length == 0) {
            return null;
        }
        return (context, code) -> {
            for (String name : names) {
                Class<?> type = beans.getType(name.startsWith("&") ? name.substring(1) : name, false);
                if (type != null) {
                    register(context.getRuntimeHints(), type);
                }
            }
        };
    }

    static void register(RuntimeHints hints, Class<?> client) {
        hints.proxies().registerJdkProxy(client);
        hints.reflection().registerType(client, MemberCategory.INVOKE_PUBLIC_METHODS);
        for (Method method : client.getMethods()) {
            registerRecords(hints, ResolvableType.forMethodReturnType(method));
            for (int i = 0; i < method.getParameterCount(); i++) {
                registerRecords(hints, ResolvableType.forMethodParameter(method, i));
            }
        }
    }

    private static void registerRecords(RuntimeHints hints, ResolvableType type) {
        if (type.toClass().isRecord() && hints.reflection().getTypeHint(type.toClass()) == null) {
            hints.reflection()
                    .registerType(
                            type.toClass(),
                            MemberCategory.INVOKE_DECLARED_CONSTRUCTORS,
                            MemberCategory.INVOKE_DECLARED_METHODS);
            for (RecordComponent component : type.toClass().getRecordComponents()) {
                registerRecords(hints, ResolvableType.forType(component.getGenericType()));
            }
        }
        for (ResolvableType generic : type.getGenerics()) {
            registerRecords(hints, generic);
        }
    }
}
