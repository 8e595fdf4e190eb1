package io.github.iree4j.spring.autoconfigure;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.StringUtils;

/**
 * Registers an alias for the bean of each program, {@code digitsProgram} for {@code iree.modules.digits}, that matches
 * the name of a parameter without a qualifier, unless the alias is another bean's name or fits several programs. An
 * alias {@code digits} would take the place of a bean that {@code @Resource DigitsService digits} finds by its type.
 * Spring calls this class when all beans are defined: a bean defined later under the name of an alias would end the
 * start.
 */
final class IreeProgramAliases implements BeanFactoryPostProcessor {

    /** Of the beans of programs. */
    static final String PREFIX = "iree.modules.";

    /** For Spring. */
    IreeProgramAliases() {}

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        Map<String, List<String>> programs = new LinkedHashMap<>();
        for (String bean : beans.getBeanDefinitionNames()) {
            if (bean.startsWith(PREFIX)) {
                programs.computeIfAbsent(words(bean.substring(PREFIX.length())), _ -> new ArrayList<>())
                        .add(bean);
            }
        }
        programs.forEach((words, named) -> {
            String alias = words + "Program";
            if (!words.isEmpty() && named.size() == 1 && !beans.containsBean(alias)) {
                beans.registerAlias(named.getFirst(), alias);
            }
        });
    }

    /** For example {@code miniLm} for {@code mini-lm}; empty for a name without letters and digits. */
    private static String words(String program) {
        StringBuilder words = new StringBuilder();
        for (String word : program.split("[^\\p{L}\\p{M}\\p{N}]+")) {
            words.append(words.isEmpty() ? word : StringUtils.capitalize(word));
        }
        return words.toString();
    }
}
