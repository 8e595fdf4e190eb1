package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.ProgramOptions;

/**
 * Callback that customizes the load options of the programs of {@code iree.modules}, for example to add Java modules or
 * further archives. Beans of this type are applied in their order, after the properties.
 */
@FunctionalInterface
public interface IreeModuleCustomizer {

    /**
     * Customizes the options of one program. Called once for each device it is placed on, and again when it is
     * reloaded.
     *
     * @param name the program's name in {@code iree.modules}
     * @param options the options it will be loaded with
     */
    void customize(String name, ProgramOptions.Builder options);
}
