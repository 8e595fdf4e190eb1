package io.github.iree4j.spring.autoconfigure.batching;

import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.IreeProperties;
import io.github.iree4j.spring.batching.DynamicBatching;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.StringUtils;

/**
 * Rejects programs configured for batching without any function that can be batched: programs loaded at the start, and
 * later programs when loaded. Warns of batch sizes without effect.
 */
final class BatchingCheck implements SmartInitializingSingleton {

    private static final Logger log = LoggerFactory.getLogger(BatchingCheck.class);

    private final IreeProperties properties;
    private final ObjectProvider<Programs> programs;

    BatchingCheck(IreeProperties properties, ObjectProvider<Programs> programs) {
        this.properties = properties;
        this.programs = programs;
    }

    @Override
    public void afterSingletonsInstantiated() {
        programs.ifAvailable(all -> all.addCheck(this::check));
    }

    private void check(LoadedProgram program) {
        String name = program.source().name();
        IreeProperties.Module module = properties.modules().get(name);
        if (module == null || !module.batching().enabled()) {
            return;
        }
        DynamicBatching.refusal(program.program()).ifPresent(refusal -> {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.modules.%s.batching.enabled".formatted(name),
                    true,
                    "None of the program's functions can be batched: %s. Remove the property, or %s."
                            .formatted(
                                    refusal,
                                    refusal.contains("!vm.ref<?>") // the type is unknown
                                            ? "give the types with 'iree.modules.%s.functions.<function>.signature'"
                                                    .formatted(name)
                                            : "compile the program with a dynamic first dimension"));
        });
        List<Integer> buckets = module.batching().buckets();
        if (!buckets.isEmpty() && DynamicBatching.takesFixedRowsOnly(program.program())) {
            log.warn(
                    "'iree.modules.{}.batching.buckets={}' has no effect: each function that can be batched takes one number of rows only; remove it, or compile the program with a dynamic first dimension",
                    name,
                    StringUtils.collectionToCommaDelimitedString(buckets));
        }
    }
}
