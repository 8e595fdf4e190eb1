package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.Program;
import java.util.Collection;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.analyzer.AbstractInjectionFailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Failure analyzer for a bean that requires a program without selecting one of several. */
@Order(Ordered.HIGHEST_PRECEDENCE) // before the analyzer for beans of any type
final class AmbiguousProgramFailureAnalyzer extends AbstractInjectionFailureAnalyzer<NoUniqueBeanDefinitionException> {

    private final BeanFactory beans;

    /** For Spring, which knows the bean factory. */
    AmbiguousProgramFailureAnalyzer(BeanFactory beans) {
        this.beans = beans;
    }

    @Override
    protected @Nullable FailureAnalysis analyze(
            Throwable rootFailure, NoUniqueBeanDefinitionException cause, @Nullable String description) {
        Collection<String> found = cause.getBeanNamesFound();
        if (cause.getBeanType() != Program.class || found == null) {
            return null;
        }
        StringBuilder remedies = new StringBuilder();
        for (String each : found) {
            String name = each.startsWith(IreeProgramAliases.PREFIX)
                    ? each.substring(IreeProgramAliases.PREFIX.length())
                    : each;
            String[] aliases = beans.getAliases(each);
            remedies.append("\n\t- @Qualifier(\"%s\")%s"
                    .formatted(name, aliases.length == 0 ? "" : ", or the name '%s'".formatted(aliases[0])));
        }
        return new FailureAnalysis(
                "%s a single program, but %d were found."
                        .formatted(description == null ? "A bean required" : description + " required", found.size()),
                "Select the program by a qualifier, or by the name of the parameter:" + remedies,
                cause);
    }
}
