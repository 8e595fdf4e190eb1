package io.github.iree4j.spring.autoconfigure.batching;

import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.Programs.LoadedProgram;
import io.github.iree4j.spring.autoconfigure.IreeProperties;
import io.github.iree4j.spring.batching.DynamicBatching;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/** Rejects programs that are to be batched and cannot be: those that are loaded at the start, and later ones as they are loaded. */
final class BatchingCheck implements SmartInitializingSingleton {

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
        String refusal = DynamicBatching.refusal(program.program());
        if (refusal != null) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.modules.%s.batching.enabled".formatted(name),
                    true,
                    "None of the program's functions can be batched: %s. Remove the property, or compile the program with a dynamic first dimension."
                            .formatted(refusal));
        }
    }
}
