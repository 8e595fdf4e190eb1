package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.ProgramOptions;
import io.github.iree4j.module.IreeModule;
import io.github.iree4j.module.JavaModule;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Offers {@link IreeModule} beans to every program; a program links the modules in its imports. A singleton serves all
 * programs and is created when the first program needing the bean is loaded. For a prototype, each context of a program
 * has a separate instance, closed with the context.
 */
final class JavaModuleBeans implements Consumer<ProgramOptions.Builder> {

    private final ConfigurableListableBeanFactory beans;
    private @Nullable List<JavaModule> modules; // guarded by this

    JavaModuleBeans(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public void accept(ProgramOptions.Builder options) {
        modules().forEach(options::offer);
    }

    private synchronized List<JavaModule> modules() {
        List<JavaModule> found = modules;
        if (found == null) {
            found = find();
            modules = found;
        }
        return found;
    }

    private List<JavaModule> find() {
        Map<String, JavaModule> byName = new TreeMap<>();
        Map<String, String> beanOf = new HashMap<>();
        for (String bean : beans.getBeanDefinitionNames()) {
            Class<?> type = ScopedProxyUtils.isScopedTarget(bean) ? null : beans.getType(bean, false);
            if (type == null || beans.findAnnotationOnBean(bean, IreeModule.class, false) == null) {
                continue;
            }
            JavaModule module = module(bean, ClassUtils.getUserClass(type));
            String other = beanOf.put(module.name(), bean);
            if (other != null) {
                throw new IllegalStateException(
                        "beans '%s' and '%s' both implement module '%s'".formatted(other, bean, module.name()));
            }
            byName.put(module.name(), module);
        }
        return List.copyOf(byName.values());
    }

    private <T> JavaModule module(String bean, Class<T> type) {
        return beans.isSingleton(bean)
                ? JavaModule.shared(type, () -> beans.getBean(bean, type))
                : JavaModule.of(type, () -> beans.getBean(bean, type));
    }
}
