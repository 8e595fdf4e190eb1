package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.spring.Programs;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Registers a bean for each device, queue, pool and program of the properties, named like the properties
 * ({@code iree.modules.digits}) and qualified by the object's name ({@code digits}), and a bean for the first queue of
 * each device, qualified by the name of the device. Programs have {@linkplain IreeProgramAliases aliases}; the other
 * types have a primary bean, which Spring prefers to names. The beans are lazy: unused beans cost nothing, and a
 * user-defined runtime need not have the objects. Programs are looked up at each request for a bean; an injected program
 * hands calls to its replacement. Definitions are plain factory methods with arguments, for which ahead-of-time processing can
 * generate code.
 */
final class IreeNamedBeansRegistrar implements ImportBeanDefinitionRegistrar, EnvironmentAware {

    private Environment environment;

    /** For Spring. */
    @SuppressWarnings("NullAway.Init") // the environment is set before the registrar is used
    IreeNamedBeansRegistrar() {}

    @Override
    public void setEnvironment(Environment given) {
        this.environment = given;
    }

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        IreeProperties properties = Binder.get(environment).bindOrCreate("iree", IreeProperties.class);
        String primary = properties.defaultDevice();
        for (String name : properties.allDevices().keySet()) {
            register(registry, "devices", name, Device.class, "device", name.equals(primary), name);
            register(registry, "pools", name, Allocator.class, "pool", name.equals(primary), name);
        }
        boolean onlyDefaults = properties.advanced().queues().isEmpty();
        properties
                .advanced()
                .queues()
                .forEach((name, queue) -> register(
                        registry,
                        "queues",
                        name,
                        DeviceQueue.class,
                        "queue",
                        properties.advanced().queues().size() == 1,
                        properties.deviceOf(queue),
                        queue.index()));
        for (String name :
                // after the queues of 'iree.advanced.queues', which may have the name
                properties.allDevices().keySet()) {
            register(
                    registry,
                    "queues",
                    name,
                    DeviceQueue.class,
                    "queue",
                    onlyDefaults && name.equals(primary),
                    name,
                    0);
        }
        for (String name : properties.modules().keySet()) {
            register(
                    registry,
                    "modules",
                    name,
                    Program.class,
                    "program",
                    properties.modules().size() == 1,
                    name);
        }
    }

    private static void register(
            BeanDefinitionRegistry registry,
            String kind,
            String name,
            Class<?> type,
            String factoryMethod,
            boolean primary,
            Object... arguments) {
        String beanName = "iree." + kind + "." + name;
        if (registry.containsBeanDefinition(beanName)) {
            return;
        }
        RootBeanDefinition definition = new RootBeanDefinition(IreeNamedBeans.class);
        definition.setTargetType(type);
        definition.setFactoryMethodName(factoryMethod);
        for (int i = 0; i < arguments.length; i++) {
            definition.getConstructorArgumentValues().addIndexedArgumentValue(i, arguments[i]);
        }
        definition.setAutowireMode(RootBeanDefinition.AUTOWIRE_CONSTRUCTOR);
        definition.setLazyInit(true);
        if (type == Program.class) {
            definition.setScope(
                    BeanDefinition
                            // beans made later get the current program, not a program that hands over
                            .SCOPE_PROTOTYPE);
        }
        definition.setPrimary(primary);
        definition.setDestroyMethodName(""); // the runtime and the registry close these objects
        definition.addQualifier(new AutowireCandidateQualifier(Qualifier.class, name));
        registry.registerBeanDefinition(beanName, definition);
    }

    /** Factory methods of the bean definitions. */
    static final class IreeNamedBeans {
        private IreeNamedBeans() {}

        static Device device(String name, IreeRuntime runtime) {
            return runtime.device(name);
        }

        static Allocator pool(String device, IreeRuntime runtime) {
            return runtime.device(device).allocator();
        }

        static DeviceQueue queue(String device, int index, IreeRuntime runtime) {
            return runtime.device(device).queue(index);
        }

        static Program program(String name, Programs programs) {
            return programs.requireHere(name, null).program();
        }
    }
}
