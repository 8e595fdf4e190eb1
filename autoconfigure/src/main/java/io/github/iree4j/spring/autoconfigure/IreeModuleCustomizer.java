package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.ProgramOptions;

/**
 * Adapts what programs of {@code iree.modules} are loaded from: adds modules written in Java, or further archives. Beans of this type are
 * applied in their order, after the properties.
 */
@FunctionalInterface
public interface IreeModuleCustomizer {

    /**
     * Changes the options of one program. Called once for each device it is placed on, and again when it is loaded anew.
     *
     * @param name the program's name in {@code iree.modules}
     * @param options what it will be loaded with
     */
    void customize(String name, ProgramOptions.Builder options);
}
