package io.github.iree4j.spring.autoconfigure.client;

import io.github.iree4j.spring.client.IreeClient;
import io.github.iree4j.spring.client.IreeClientFactoryBean;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.ResourceLoaderAware;
import org.springframework.context.annotation.AnnotationBeanNameGenerator;
import org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ResourceLoader;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.core.type.filter.AnnotationTypeFilter;
import org.springframework.util.ClassUtils;

/** Registers a bean for each {@code @IreeClient} in the packages of the application, unless a bean of the same name exists. */
final class IreeClientRegistrar
        implements ImportBeanDefinitionRegistrar, BeanFactoryAware, ResourceLoaderAware, EnvironmentAware {

    private @Nullable BeanFactory beans;
    private @Nullable ResourceLoader resources;
    private @Nullable Environment environment;

    /** For Spring. */
    IreeClientRegistrar() {}

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        beans = beanFactory;
    }

    @Override
    public void setResourceLoader(ResourceLoader resourceLoader) {
        resources = resourceLoader;
    }

    @Override
    public void setEnvironment(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
        BeanFactory factory = beans;
        Environment settings = environment;
        if (factory == null || settings == null || !AutoConfigurationPackages.has(factory)) {
            return;
        }
        ClassPathScanningCandidateComponentProvider scanner = new InterfaceScanner(settings);
        if (resources != null) {
            scanner.setResourceLoader(resources);
        }
        for (String base : AutoConfigurationPackages.get(factory)) {
            for (BeanDefinition candidate : scanner.findCandidateComponents(base)) {
                register(candidate, registry);
            }
        }
    }

    private void register(BeanDefinition candidate, BeanDefinitionRegistry registry) {
        ClassLoader loader = resources == null ? null : resources.getClassLoader();
        Class<?> type = ClassUtils.resolveClassName(String.valueOf(candidate.getBeanClassName()), loader);
        String name = AnnotationBeanNameGenerator.INSTANCE.generateBeanName(candidate, registry);
        if (registry.containsBeanDefinition(name)) {
            return;
        }
        RootBeanDefinition definition = new RootBeanDefinition(IreeClientFactoryBean.class);
        definition.setTargetType(ResolvableType.forClassWithGenerics(IreeClientFactoryBean.class, type));
        definition.getConstructorArgumentValues().addGenericArgumentValue(type);
        definition.setAttribute(FactoryBean.OBJECT_TYPE_ATTRIBUTE, type);
        registry.registerBeanDefinition(name, definition);
    }

    /** Finds interfaces, otherwise left out by component scanning. */
    private static final class InterfaceScanner extends ClassPathScanningCandidateComponentProvider {
        InterfaceScanner(Environment environment) {
            super(false, environment);
            addIncludeFilter(new AnnotationTypeFilter(IreeClient.class));
        }

        @Override
        protected boolean isCandidateComponent(AnnotatedBeanDefinition definition) {
            return definition.getMetadata().isInterface()
                    && definition.getMetadata().isIndependent();
        }
    }
}
