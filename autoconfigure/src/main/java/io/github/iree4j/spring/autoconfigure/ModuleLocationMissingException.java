package io.github.iree4j.spring.autoconfigure;

/** Thrown when a module, or a version of a module, is configured without a location. */
final class ModuleLocationMissingException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String module;
    private final String property;

    private ModuleLocationMissingException(String module, String prefix) {
        super("property '%s.location' is not set".formatted(prefix));
        this.module = module;
        this.property = prefix + ".location";
    }

    static ModuleLocationMissingException of(String module) {
        return new ModuleLocationMissingException(module, PropertyChecks.below("iree.modules", module));
    }

    static ModuleLocationMissingException of(String module, String version) {
        String versions = PropertyChecks.below("iree.modules", module) + ".versions";
        return new ModuleLocationMissingException(module, PropertyChecks.below(versions, version));
    }

    String module() {
        return module;
    }

    String property() {
        return property;
    }
}
