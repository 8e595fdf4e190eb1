package io.github.iree4j.spring.autoconfigure;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.StringUtils;

/**
 * Registers an alias for the bean of each program, such as {@code digitsProgram} for {@code iree.modules.digits}, that
 * matches the name of a parameter without a qualifier. Spring calls this class when all beans are defined: a bean
 * defined later under the name of an alias would end the start.
 */
final class IreeProgramAliases implements BeanFactoryPostProcessor {

    private static final String PREFIX = "iree.modules.";

    /** For Spring. */
    IreeProgramAliases() {}

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        for (String bean : beans.getBeanDefinitionNames()) {
            if (bean.startsWith(PREFIX)) {
                String alias = alias(bean.substring(PREFIX.length()));
                if (!beans.containsBean(alias)) {
                    beans.registerAlias(bean, alias);
                }
            }
        }
    }

    /** For example {@code miniLmProgram} for {@code mini-lm}. */
    private static String alias(String program) {
        StringBuilder alias = new StringBuilder();
        for (String word : (program + "-program").split("[^\\p{Alnum}]+")) {
            alias.append(alias.isEmpty() ? word : StringUtils.capitalize(word));
        }
        return alias.toString();
    }
}
