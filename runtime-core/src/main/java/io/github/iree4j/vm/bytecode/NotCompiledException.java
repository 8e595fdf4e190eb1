package io.github.iree4j.vm.bytecode;

/** Signals that a function cannot be compiled and stays interpreted, with the reason. */
final class NotCompiledException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NotCompiledException(String reason) {
        super(reason);
    }
}
