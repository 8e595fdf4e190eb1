package io.github.iree4j.spring.autoconfigure.info;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.actuate.info.IreeInfoContributor;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.info.ConditionalOnEnabledInfoContributor;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** {@link AutoConfiguration Auto-configuration} for {@link IreeInfoContributor}. */
@AutoConfiguration(after = IreeAutoConfiguration.class)
@ConditionalOnClass({IreeRuntime.class, InfoContributor.class, ConditionalOnEnabledInfoContributor.class})
@ConditionalOnBean(IreeRuntime.class)
public final class IreeInfoContributorAutoConfiguration {

    /** For Spring. */
    IreeInfoContributorAutoConfiguration() {}

    // Not on the class: the condition would be loaded even without Actuator.
    @Bean
    @ConditionalOnEnabledInfoContributor("iree")
    @ConditionalOnMissingBean
    IreeInfoContributor ireeInfoContributor(IreeRuntime runtime) {
        return new IreeInfoContributor(runtime);
    }
}
