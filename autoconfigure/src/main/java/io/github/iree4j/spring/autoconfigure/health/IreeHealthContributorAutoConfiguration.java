package io.github.iree4j.spring.autoconfigure.health;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.health.IreeHealthContributor;
import io.github.iree4j.spring.problems.Watchdog;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.context.annotation.Bean;

/** {@link AutoConfiguration Auto-configuration} for {@link IreeHealthContributor}. */
@AutoConfiguration(after = IreeAutoConfiguration.class)
@ConditionalOnClass({IreeRuntime.class, HealthContributor.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean({IreeRuntime.class, Programs.class})
public final class IreeHealthContributorAutoConfiguration {

    /** For Spring. */
    IreeHealthContributorAutoConfiguration() {}

    // Not on the class: the condition would be loaded even without health support.
    @Bean
    @ConditionalOnEnabledHealthIndicator("iree")
    @ConditionalOnMissingBean(name = {"ireeHealthIndicator", "ireeHealthContributor"})
    IreeHealthContributor ireeHealthContributor(
            IreeRuntime runtime, Programs programs, ObjectProvider<Watchdog> watchdog) {
        return new IreeHealthContributor(runtime, programs, watchdog::getIfAvailable);
    }
}
