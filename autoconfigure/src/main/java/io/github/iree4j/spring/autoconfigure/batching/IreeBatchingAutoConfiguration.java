package io.github.iree4j.spring.autoconfigure.batching;

import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.IreeProperties;
import io.github.iree4j.spring.batching.BatchListener;
import io.github.iree4j.spring.batching.BatchTimer;
import io.github.iree4j.spring.batching.BatchingOptions;
import io.github.iree4j.spring.batching.DynamicBatching;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.annotation.Bean;
import org.springframework.util.StringUtils;

/** {@link AutoConfiguration Auto-configuration} for batching of calls. */
@AutoConfiguration(before = IreeAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "iree.enabled", matchIfMissing = true)
@EnableConfigurationProperties(IreeProperties.class)
public final class IreeBatchingAutoConfiguration {

    /** Queue capacity, in full batches; further rows are rejected. */
    private static final int WAITING_BATCHES = 64;

    /** For Spring. */
    IreeBatchingAutoConfiguration() {}

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    DynamicBatching ireeDynamicBatching(
            IreeProperties properties, ObjectProvider<BatchTimer> timer, ObjectProvider<BatchListener> listeners) {
        Map<String, BatchingOptions> options = new HashMap<>();
        properties.modules().forEach((name, module) -> {
            if (module.batching().enabled()) {
                options.put(name, options(name, module));
            }
        });
        List<BatchListener> all = listeners.orderedStream().toList();
        return new DynamicBatching(
                options,
                timer.getIfAvailable(BatchTimer::system),
                (model, function, calls, rows, padded, nanos) ->
                        all.forEach(each -> each.batched(model, function, calls, rows, padded, nanos)));
    }

    @Bean
    @ConditionalOnMissingBean(name = "ireeBatchingCheck")
    BatchingCheck ireeBatchingCheck(IreeProperties properties, ObjectProvider<Programs> programs) {
        return new BatchingCheck(properties, programs);
    }

    private static BatchingOptions options(String name, IreeProperties.Module module) {
        IreeProperties.Batching batching = module.batching();
        try {
            return BatchingOptions.DEFAULTS
                    .maxSize(batching.maxSize())
                    .maxDelay(batching.maxDelay())
                    .buckets(batching.buckets())
                    .maxWaiting((int) Math.min(Integer.MAX_VALUE, (long) WAITING_BATCHES * batching.maxSize()))
                    .maxInFlight(module.contexts() + 1);
        } catch (IllegalArgumentException e) {
            String message = String.valueOf(e.getMessage());
            String property = message.replaceFirst("(?s)^'([a-z-]+)'.*", "$1");
            Object value = switch (property) {
                case "max-delay" -> batching.maxDelay();
                case "buckets" -> batching.buckets();
                default -> batching.maxSize();
            };
            throw new InvalidConfigurationPropertyValueException(
                    "iree.modules.%s.batching.%s".formatted(name, property),
                    value,
                    StringUtils.capitalize(message) + ".");
        }
    }
}
