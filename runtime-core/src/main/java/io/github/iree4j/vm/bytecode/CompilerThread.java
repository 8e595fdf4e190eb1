package io.github.iree4j.vm.bytecode;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The thread that compiles functions of all modules sequentially; ends when idle. */
final class CompilerThread {
    private static final int QUEUE = 1024;
    private static final int IDLE_SECONDS = 5;
    private static final ThreadPoolExecutor THREAD = new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(QUEUE),
            Thread.ofPlatform().daemon().name("iree4j-vm-compiler").factory());

    static {
        THREAD.allowCoreThreadTimeOut(true);
    }

    private CompilerThread() {}

    /** Runs a task soon; returns false, without waiting, when the queue is full. */
    static boolean execute(Runnable work) {
        try {
            THREAD.execute(work);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }
}
