package io.github.iree4j.vm.bytecode;

import java.util.Locale;

/** Whether and when functions of programs become Java bytecode. The system property {@code iree4j.vm.compile} says so. */
enum Compilation {
    /** Never: everything is interpreted. */
    OFF,
    /** On a thread of its own, once a function has been called or has looped often. */
    BACKGROUND,
    /** When a module is read, before it is used. */
    EAGER;

    static Compilation ofProperty() {
        String name = System.getProperty("iree4j.vm.compile");
        return name == null ? OFF : valueOf(name.toUpperCase(Locale.ROOT));
    }
}
