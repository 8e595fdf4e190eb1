package io.github.iree4j.vm.bytecode;

/** Why a function stays interpreted. */
final class NotCompiledException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NotCompiledException(String reason) {
        super(reason);
    }
}
