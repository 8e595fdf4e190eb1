package io.github.iree4j.spring.client;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.FactoryBean;

/**
 * Factory bean of a client, which the bean of type {@link IreeClientFactory} creates.
 *
 * @param <T> the client's interface
 */
@NotForApplications
public final class IreeClientFactoryBean<T> implements FactoryBean<T>, BeanFactoryAware {

    private final Class<T> type;
    private @Nullable BeanFactory beans;

    /**
     * Creates the factory bean of a client.
     *
     * @param type the client's interface
     */
    public IreeClientFactoryBean(Class<T> type) {
        this.type = type;
    }

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        beans = beanFactory;
    }

    @Override
    public T getObject() {
        BeanFactory factory = beans;
        if (factory == null) {
            throw new IllegalStateException(
                    "client '%s' is used before its bean factory is known".formatted(type.getName()));
        }
        return factory.getBean(IreeClientFactory.class).create(type);
    }

    @Override
    public Class<?> getObjectType() {
        return type;
    }
}
