package io.github.iree4j.spring.autoconfigure;

/** Thrown when a module is configured without a location. */
final class ModuleLocationMissingException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String module;

    ModuleLocationMissingException(String module) {
        super("property 'iree.modules.%s.location' is not set".formatted(module));
        this.module = module;
    }

    String module() {
        return module;
    }
}
