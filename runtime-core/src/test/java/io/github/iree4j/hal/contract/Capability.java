package io.github.iree4j.hal.contract;

/**
 * Abilities missing in some backends. Suites expect something else there, or skip dependent tests, with the cause given
 * here.
 */
public enum Capability {
    /**
     * Kernels run on the host: they fail with a status, receive sizes and memory of each dispatch, and the host reads
     * counts before the begin.
     */
    HOST_KERNELS("kernels of this device are not functions of the host, which can fail and receive sizes"),

    /**
     * Kernels can fail. Kernels off the host fault, and the device is lost with them; once the device is closed,
     * another can be opened.
     */
    FAILING_KERNELS(
            "kernels of this device cannot fail, or would end the process's use of the device, needed by later tests"),

    /** Kernels are told the length of each binding. Others are given addresses alone. */
    BINDING_LENGTHS("kernels of this device are given addresses of buffers and no lengths"),

    /**
     * A queue begins later operations while a host call runs. Others wait for the call, and only other queues go on.
     */
    CONCURRENT_HOST_CALLS("queues of this device wait for host calls before going on"),

    /**
     * Queues are streams of hardware with counted submissions, waits, points and completions, and a test can hold them.
     */
    STREAMS("queues of this device are not streams of hardware within a test's hold"),

    /**
     * Operations with only the last awaited by the host are reported in a single completion: the driver is not woken
     * for each submission.
     */
    GATHERED_COMPLETIONS("the hardware of this device notifies the host of each operation"),

    /** Memory of the host can be used in place. */
    HOST_IMPORTS("this device does not see memory of the host"),

    /** So can read-only pages of the host. Others are refused, and callers copy these. */
    READ_ONLY_IMPORTS("this device does not see read-only memory of the host"),

    /** Devices create channels, and execute collectives. */
    COLLECTIVES("this device has no collectives");

    private final String cause;

    Capability(String cause) {
        this.cause = cause;
    }

    /** Why a test is skipped on a backend without this. */
    String cause() {
        return cause;
    }
}
