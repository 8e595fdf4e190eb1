package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.ProgramOptions;

/**
 * Callback that customizes the load options of the programs of {@code iree.modules}, for example to add Java modules or
 * further archives. Beans of this type are applied in their order, after the properties.
 */
@FunctionalInterface
public interface IreeModuleCustomizer {

    /**
     * Customizes the options of a program. Called once for each device of the program, and again at each reload.
     *
     * @param name the program's name in {@code iree.modules}
     * @param options the options for loading the program
     */
    void customize(String name, ProgramOptions.Builder options);
}
