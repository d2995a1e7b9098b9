/** @file
 * Twinloom's C API: a tensor compiler behind opaque handles and DLPack tensors.
 *
 * @code{.c}
 *   twinloom_graph* graph = NULL;
 *   twinloom_device* device = NULL;
 *   twinloom_executable* executable = NULL;
 *   twinloom_error* error = twinloom_graph_load("model.fx", NULL, &graph);
 *   if (!error) error = twinloom_device_open("cpu", NULL, &device);
 *   if (!error) error = twinloom_compile(graph, device, NULL, &executable);
 *   if (!error) {
 *     twinloom_value argument = {TWINLOOM_TENSOR, {.tensor = &x}};   // a DLTensor of the caller
 *     twinloom_value result = {TWINLOOM_NONE};
 *     error = twinloom_run(executable, &argument, 1, NULL, &result, 1);
 *     ... result.as.managed->dl_tensor ...
 *     twinloom_value_release(&result);
 *   }
 *   if (error) fprintf(stderr, "%s\n", twinloom_error_message(error));
 *   twinloom_error_free(error);
 *   twinloom_executable_free(executable);
 *   twinloom_device_free(device);
 *   twinloom_graph_free(graph);
 * @endcode
 *
 * Errors. What can fail returns NULL where it went well, else an error that the caller frees; what it would
 * have written through its pointers is then as it was. Nothing is thrown, no signal handler is installed,
 * nothing is printed but logs that are asked for, and the process is not ended.
 *
 * Ownership. What is written through a `twinloom_x**` or `char**` is the caller's, to be freed by the
 * function that is named beside it; every such function takes NULL. A handle may be freed while others that
 * were made of it are used.
 *
 * Threads. Graphs, devices and executables may be used by many threads at once, and freed by one when no
 * other uses them. A pending run, an error and a value belong to one thread at a time.
 *
 * Options. A struct of options begins with its own size, which the caller sets to sizeof; a member that is 0
 * has its default, so `{.size = sizeof(twinloom_run_options)}` is what NULL means. Later versions add members
 * at the end.
 *
 * Sizes and counts are in elements, strides too, memory in bytes, times in seconds. */
#ifndef TWINLOOM_TWINLOOM_H
#define TWINLOOM_TWINLOOM_H

#include <stddef.h>
#include <stdint.h>

/* DLTensor and DLManagedTensor; the version of the caller where there is one. */
#ifdef __has_include
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#else
#include <twinloom/dlpack.h>
#endif
#else
#include <dlpack/dlpack.h>
#endif

#if defined(__GNUC__)
#define TWINLOOM_API __attribute__((visibility("default")))
#else
#define TWINLOOM_API /**< What the library exports. */
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Of the header; twinloom_version() is that of the library. A library of the same MAJOR serves programs that
 * were built with an earlier header. */
#define TWINLOOM_VERSION_MAJOR 0
#define TWINLOOM_VERSION_MINOR 1 /**< Of the header. */
#define TWINLOOM_VERSION_PATCH 0 /**< Of the header. */

/** Of the library: "0.1.0". */
TWINLOOM_API const char* twinloom_version(void);

/* ---- errors ---- */

/** What went wrong: a code and a message. */
typedef struct twinloom_error twinloom_error;

/** Whose an error is, and what still works after it. */
typedef enum twinloom_code {
  /** Of NULL. */
  TWINLOOM_OK = 0,
  /** The caller's: the message says what was given, what was expected, and where. */
  TWINLOOM_INVALID = 1,
  /** What exists stays as it is; a run that needs less works. */
  TWINLOOM_OUT_OF_MEMORY = 2,
  /** A GPU failed for good, or was opened before fork() made this process: all work on it here ends so, other devices
   * go on. */
  TWINLOOM_DEVICE_LOST = 3,
  /** A mistake in Twinloom; the message is worth a report. */
  TWINLOOM_BUG = 4
} twinloom_code;

/** TWINLOOM_OK of NULL. */
TWINLOOM_API twinloom_code twinloom_error_code(const twinloom_error* error);
/** The message in UTF-8, "" of NULL; lives as long as the error. */
TWINLOOM_API const char* twinloom_error_message(const twinloom_error* error);
/** The node or parameter that the error is about, as the graph calls it: "" where none is known. Lives as
 * long as the error. */
TWINLOOM_API const char* twinloom_error_node(const twinloom_error* error);
/** The line of the text that was read, from 1: 0 where none is known. */
TWINLOOM_API int64_t twinloom_error_line(const twinloom_error* error);
/** Frees an error. */
TWINLOOM_API void twinloom_error_free(twinloom_error* error);

/** Frees a text that a function wrote through a `char**`. */
TWINLOOM_API void twinloom_text_free(char* text);

/* ---- logs ---- */

/** An event of a log: the log's name and a text, of one line but for `code`. Called by one thread at a time,
 * inside the work that it hears of: it must not compile or run, nor wait for a thread that does. */
typedef void (*twinloom_log)(void* context, const char* log, const char* text);

/** Says which logs are on from here on, and who hears them. `names`: with commas between them, of fusion
 * (what became one kernel, and what did not and why), schedule (how each kernel is walked, and how long that
 * should take), guards (which variant a run uses, why one is made, which condition failed), code (the source
 * of each kernel) and cache (kernels on disk: found, missed and by which field, kept), or `all`; NULL: none.
 * They are the process's. Before the first call they are those of the variable TWINLOOM_LOG of the
 * environment. `callback`: NULL: each event is a line on the error stream. When this returns no earlier
 * callback is being called, but by the thread that calls this. */
TWINLOOM_API twinloom_error* twinloom_set_log(const char* names, twinloom_log callback, void* context);

/* ---- values: what a graph takes and gives ---- */

/** What a value is. */
typedef enum twinloom_kind {
  /** Python's None; of a result that is to be filled in: memory is made for it. */
  TWINLOOM_NONE = 0,
  /** The caller's tensor: as.tensor. */
  TWINLOOM_TENSOR = 1,
  /** A number: as.size. */
  TWINLOOM_SIZE = 2,
  /** A result in memory that was made for it, or in that of an argument: as.managed. */
  TWINLOOM_MANAGED = 3
} twinloom_kind;

/** None, a tensor or a number. Tensors lie in memory of this process (kDLCPU, kDLCUDAHost) or of a GPU
 * (kDLCUDA, kDLCUDAManaged), with any strides, negative ones and 0 included; a row-major one may have none.
 * Types: bool, integers of 8 to 64 bits, floats of 16, 32 and 64, bfloat16, float8_e4m3fn and float8_e5m2.
 * Nothing is copied. */
typedef struct twinloom_value {
  int32_t kind; /**< A twinloom_kind. */
  union {
    const DLTensor* tensor;   /**< Of TWINLOOM_TENSOR. */
    int64_t size;             /**< Of TWINLOOM_SIZE. */
    DLManagedTensor* managed; /**< A result: released by its deleter; it may outlive the executable. */
  } as;                       /**< What `kind` says. */
} twinloom_value;

/** Calls the deleter of a managed tensor; the value is then TWINLOOM_NONE. */
TWINLOOM_API void twinloom_value_release(twinloom_value* value);

/* ---- arrays in files ---- */

/** Arrays that were read from a file. */
typedef struct twinloom_arrays twinloom_arrays;

/** A tensor and what it is called. */
typedef struct twinloom_named_tensor {
  const char* name;       /**< What it is called. */
  const DLTensor* tensor; /**< In memory of this process. */
} twinloom_named_tensor;

/** Of a file that ends in .npy, which holds one without a name, or in .npz. Types are those of tensors;
 * bfloat16, which NumPy does not have, is kept as uint16 under the name and "_bf16", and read back as
 * bfloat16 under the name. */
TWINLOOM_API twinloom_error* twinloom_arrays_read(const char* path, twinloom_arrays** arrays);
/** Frees the arrays, not the tensors that twinloom_arrays_get gave. */
TWINLOOM_API void twinloom_arrays_free(twinloom_arrays* arrays);
/** How many there are; 0 of NULL. */
TWINLOOM_API size_t twinloom_arrays_count(const twinloom_arrays* arrays);
/** One of them, in the order of the file. The name lives as long as `arrays`; the tensor until its deleter is called. */
TWINLOOM_API twinloom_error* twinloom_arrays_get(const twinloom_arrays* arrays, size_t number,
                                                 const char** name, DLManagedTensor** tensor);
/** Writes a file in place of one of that name. An .npy file takes one, whose name is not kept. */
TWINLOOM_API twinloom_error* twinloom_arrays_write(const char* path, const twinloom_named_tensor* tensors,
                                                   size_t count);

/* ---- graphs ---- */

/** Operators and what they are called with. */
typedef struct twinloom_graph twinloom_graph;

/** How a text or a model is read. */
typedef struct twinloom_read_options {
  size_t size;           /**< sizeof(twinloom_read_options). */
  int32_t graph;         /**< Which one of a text with several, from 0. */
  size_t constant_count; /**< How many `constants` holds. */
  /** Tensors that the text names and does not contain, such as `_tensor_constant0`; copied. Of an ONNX model,
   * by name, inputs whose values decide about shapes: each run checks that they are the same. */
  const twinloom_named_tensor* constants;
} twinloom_read_options;

/** The graph of the text that PyTorch prints for an FX graph, of Twinloom's own, that twinloom_graph_text
 * gives, or of the bytes of an ONNX model without external data. */
TWINLOOM_API twinloom_error* twinloom_graph_read(const char* text, size_t bytes,
                                                 const twinloom_read_options* options,
                                                 twinloom_graph** graph);
/** twinloom_graph_read of a file; `path` is in the encoding of the file system. The external data of an ONNX
 * model is read from files in its folder, and nowhere else. */
TWINLOOM_API twinloom_error* twinloom_graph_load(const char* path, const twinloom_read_options* options,
                                                 twinloom_graph** graph);
/** Frees a graph. */
TWINLOOM_API void twinloom_graph_free(twinloom_graph* graph);
/** Twinloom's own text of a graph. Free with twinloom_text_free. */
TWINLOOM_API twinloom_error* twinloom_graph_text(const twinloom_graph* graph, char** text);

/** What is known of a parameter or a result before a run; lives as long as its graph. */
typedef struct twinloom_port {
  size_t size;                      /**< sizeof(twinloom_port). */
  const char* name;                 /**< "" where it has none. */
  int32_t kind;                     /**< TWINLOOM_TENSOR, TWINLOOM_SIZE or TWINLOOM_NONE. */
  DLDataType dtype;                 /**< Of a tensor. */
  int32_t ndim;                     /**< Of a tensor. */
  const int64_t* shape;             /**< -1: known at a run. */
  const char* const* shape_symbols; /**< Each size as an expression: "4", "s0", "2*s0 + 1". */
} twinloom_port;

/** How many arguments a run takes. */
TWINLOOM_API size_t twinloom_graph_parameter_count(const twinloom_graph* graph);
/** How many results a run gives. */
TWINLOOM_API size_t twinloom_graph_result_count(const twinloom_graph* graph);
/** What is known of a parameter, counted from 0; port->size must be set. */
TWINLOOM_API twinloom_error* twinloom_graph_parameter(const twinloom_graph* graph, size_t number,
                                                      twinloom_port* port);
/** What is known of a result, counted from 0; port->size must be set. */
TWINLOOM_API twinloom_error* twinloom_graph_result(const twinloom_graph* graph, size_t number,
                                                   twinloom_port* port);

/* ---- a graph, call by call ---- */

/** Adds the operators that FX text may name, one after the other. A value is a number that a call has given:
 * 0, 1, ... A builder belongs to one thread at a time; a call that fails leaves it as it was. */
typedef struct twinloom_builder twinloom_builder;

/** What an operand is. */
typedef enum twinloom_operand_kind {
  TWINLOOM_OPERAND_NONE = 0,    /**< Python's None. */
  TWINLOOM_OPERAND_VALUE = 1,   /**< as.integer: what the builder gave. */
  TWINLOOM_OPERAND_TRUTH = 2,   /**< as.integer: 0 or not. */
  TWINLOOM_OPERAND_INTEGER = 3, /**< as.integer. */
  TWINLOOM_OPERAND_REAL = 4,    /**< as.real. */
  TWINLOOM_OPERAND_TEXT = 5,    /**< as.text: "mean", "tanh". */
  TWINLOOM_OPERAND_DTYPE = 6,   /**< as.dtype. */
  TWINLOOM_OPERAND_SIZE = 7,    /**< as.text: an expression of sizes, "2*n + 1". */
  TWINLOOM_OPERAND_LIST = 8     /**< as.list: as many operands. */
} twinloom_operand_kind;

/** What an operator is called with. */
typedef struct twinloom_operand {
  int32_t kind;        /**< A twinloom_operand_kind. */
  const char* keyword; /**< NULL: by its position; those by keyword stand behind the others. */
  union {
    int64_t integer;  /**< A value's number, a truth or an integer. */
    double real;      /**< Of TWINLOOM_OPERAND_REAL. */
    const char* text; /**< A text, or an expression of sizes. */
    DLDataType dtype; /**< Of TWINLOOM_OPERAND_DTYPE. */
    struct {
      const struct twinloom_operand* operands; /**< The first of them. */
      size_t count;                            /**< How many there are. */
    } list;                                    /**< Of TWINLOOM_OPERAND_LIST. */
  } as;                                        /**< What `kind` says. */
} twinloom_operand;

/** A builder of an empty graph of that name. */
TWINLOOM_API twinloom_error* twinloom_builder_new(const char* name, twinloom_builder** builder);
/** Frees a builder. */
TWINLOOM_API void twinloom_builder_free(twinloom_builder* builder);
/** A tensor parameter. Each size is an expression: "64", "n", "2*n". A name in one is a size that a run
 * tells. */
TWINLOOM_API twinloom_error* twinloom_builder_input(twinloom_builder* builder, const char* name,
                                                    DLDataType dtype, size_t ndim, const char* const* sizes,
                                                    int64_t* value);
/** A size parameter of that name: a number that is at least 0. */
TWINLOOM_API twinloom_error* twinloom_builder_size(twinloom_builder* builder, const char* name,
                                                   int64_t* value);
/** A tensor in memory of this process; copied. */
TWINLOOM_API twinloom_error* twinloom_builder_constant(twinloom_builder* builder, const DLTensor* tensor,
                                                       int64_t* value);
/** What the calls from here on are named in errors and by twinloom_explain, and the line of a program that they
 * stand for. NULL and 0: the operator's name, and none. */
TWINLOOM_API twinloom_error* twinloom_builder_origin(twinloom_builder* builder, const char* name,
                                                     const char* file, int64_t line);
/** Adds a call of an operator. `target` as PyTorch prints it, "aten._softmax.default", or the operator's name
 * alone, "exp"; operands as its schema says. What it gives is written into `values`: one, or the first
 * `value_count` elements of a list. */
TWINLOOM_API twinloom_error* twinloom_builder_call(twinloom_builder* builder, const char* target,
                                                   const twinloom_operand* operands, size_t operand_count,
                                                   int64_t* values, size_t value_count);
/** What a value is; what the port points to lives until the builder is asked again or freed. */
TWINLOOM_API twinloom_error* twinloom_builder_port(twinloom_builder* builder, int64_t value,
                                                   twinloom_port* port);
/** The graph that returns these values, -1 being None. `names`: one for each result, or NULL. The builder is
 * then empty. */
TWINLOOM_API twinloom_error* twinloom_builder_finish(twinloom_builder* builder, const int64_t* values,
                                                     const char* const* names, size_t count,
                                                     twinloom_graph** graph);

/* ---- devices ---- */

/** What kernels run on. */
typedef struct twinloom_device twinloom_device;

/** What a device may be told. */
typedef struct twinloom_device_options {
  size_t size;      /**< sizeof(twinloom_device_options). */
  const char* isa;  /**< Of a CPU: "avx2" or "avx512"; NULL: the best that it has. */
  int32_t no_cache; /**< Not 0: machine code and planned graphs are neither kept on disk nor found there. */
} twinloom_device_options;

/** The device of a name: "cpu"; "cuda" or "cuda:1", as the driver counts; "reference", which interprets,
 * slowly and obviously; "h200", which plans for a GPU and runs nothing. A device that is not here is an error
 * that says what is missing. */
TWINLOOM_API twinloom_error* twinloom_device_open(const char* name, const twinloom_device_options* options,
                                                  twinloom_device** device);
/** Frees a device. */
TWINLOOM_API void twinloom_device_free(twinloom_device* device);
/** What the device is, in one line. Free with twinloom_text_free. */
TWINLOOM_API twinloom_error* twinloom_device_description(const twinloom_device* device, char** text);
/** What does not work as it should and hurts no result, such as a cache that cannot be written; "" where all
 * does. Free with twinloom_text_free. */
TWINLOOM_API twinloom_error* twinloom_device_warning(const twinloom_device* device, char** text);
/** The tensor in memory that the device's kernels see, when this returns. One that is there already is not
 * copied: the result then lies in the caller's memory. Released by its deleter. */
TWINLOOM_API twinloom_error* twinloom_device_upload(const twinloom_device* device, const DLTensor* tensor,
                                                    DLManagedTensor** uploaded);
/** The tensor back in memory of this process, as twinloom_device_upload says. */
TWINLOOM_API twinloom_error* twinloom_device_download(const twinloom_device* device, const DLTensor* tensor,
                                                      DLManagedTensor** downloaded);
/** Gives the driver the memory of a GPU that is kept for later runs, for others in this process. */
TWINLOOM_API twinloom_error* twinloom_device_release_memory(const twinloom_device* device);
/** The names of the devices that can be used here, the best first, a line each. Free with
 * twinloom_text_free. */
TWINLOOM_API twinloom_error* twinloom_device_names(char** text);

/* ---- executables ---- */

/** A compiled graph. */
typedef struct twinloom_executable twinloom_executable;

/** How results may be rounded. */
typedef enum twinloom_mode {
  TWINLOOM_FUSED = 0,  /**< 16-bit values between operators stay in f32; the same bits on every device. */
  TWINLOOM_STRICT = 1, /**< Every operator rounds once to its type; the same bits on every device. */
  TWINLOOM_FAST = 2    /**< Fused, and what `relaxations` names. */
} twinloom_mode;

/** Hears what was done last on the way to machine code: a pass of the compiler or, within the pass that
 * builds them, a kernel; `kernel` is NULL of a pass. So many kernels are built, of `total`, which is 0 before
 * it is known. Called by one thread at a time, which need not be the caller's, and must not use the
 * executable. */
typedef void (*twinloom_progress)(void* context, const char* pass, const char* kernel, int64_t built,
                                  int64_t total);

/** How a graph is compiled. */
typedef struct twinloom_compile_options {
  size_t size;             /**< sizeof(twinloom_compile_options). */
  int32_t mode;            /**< A twinloom_mode. */
  const char* relaxations; /**< Of fast: names with commas between them, "reassociate,contract"; NULL: all. */
  int32_t build_threads;   /**< That compile kernels of one graph at the same time; 0: one a core. */
  int32_t tuning_tries;    /**< Schedules of each kernel measured beside the usual one when it is made. */
  const char* schedules;   /**< A folder where those that were fastest are kept and found; NULL: none. */
  twinloom_progress progress; /**< Who hears how far it is, while the executable lives; NULL: nobody. */
  void* progress_context;     /**< What `progress` is called with. */
  /** Names of parameters, with commas between them, whose memory results may take: the caller no longer needs
   * what they hold when the graph is run, and the memory may be written. NULL: none. */
  const char* donated;
  /** Not 0: results lie row-major in memory. 0: as kernels write them fastest, in the order of what they
   * read; a run into a tensor with other strides then copies, on a GPU through memory of the host. */
  int32_t row_major_results;
} twinloom_compile_options;

/** Compiles a graph for a device. Machine code is made when the first run of a layout needs it, or by
 * twinloom_prepare. */
TWINLOOM_API twinloom_error* twinloom_compile(const twinloom_graph* graph, const twinloom_device* device,
                                              const twinloom_compile_options* options,
                                              twinloom_executable** executable);
/** Frees an executable. */
TWINLOOM_API void twinloom_executable_free(twinloom_executable* executable);

/** The graph that it runs, for names, types and shapes. Free with twinloom_graph_free. */
TWINLOOM_API twinloom_error* twinloom_executable_graph(const twinloom_executable* executable,
                                                       twinloom_graph** graph);

/* ---- packages: kernels that are compiled ahead of time ---- */

/** What a package is made for. */
typedef struct twinloom_export_options {
  size_t size; /**< sizeof(twinloom_export_options). */
  /** "avx2", "avx512", "sm_90", with commas between them; NULL: this processor's instruction set. */
  const char* targets;
  /** Arguments whose strides kernels are made for, one for each parameter; their data may be NULL. None: all
   * tensors are row-major. */
  const twinloom_value* arguments;
  size_t argument_count; /**< How many `arguments` holds. */
  /** Not 0: kernels for sizes like the arguments' too, which are faster than those for all sizes. */
  int32_t of_class;
} twinloom_export_options;

/** Compiles the graph for machines that need not be here, into one file, in place of a file of that name. Any
 * of them runs it by twinloom_load_package without a compiler. */
TWINLOOM_API twinloom_error* twinloom_export_package(const twinloom_graph* graph, const char* path,
                                                     const twinloom_compile_options* options,
                                                     const twinloom_export_options* how);

/** What sources of a graph are made for. */
typedef struct twinloom_source_options {
  size_t size; /**< sizeof(twinloom_source_options). */
  /** "avx2" or "avx512": C++ for g++ and clang++; "sm_90": CUDA C++ for nvcc; NULL: as this processor. */
  const char* target;
  const char* name; /**< Of the function; NULL: the graph's. */
  uint64_t seed;    /**< Of random numbers in the test. */
  uint64_t offset;  /**< The same: where in their sequence. */
  /** Not 0: kernels for sizes like the arguments' alone, which are faster than those for all sizes. */
  int32_t of_class;
  int32_t overwrite; /**< Not 0: files that the folder holds. */
} twinloom_source_options;

/** Writes the graph as C++ or CUDA C++ into a folder that is missing or empty: a function, its kernels, a
 * build file, and a test that hands in these arguments, one for each parameter. It is built without Twinloom
 * and gives the same bits. */
TWINLOOM_API twinloom_error* twinloom_export_sources(const twinloom_graph* graph, const char* folder,
                                                     const twinloom_value* arguments, size_t argument_count,
                                                     const twinloom_compile_options* options,
                                                     const twinloom_source_options* how);

/** How a package is used. */
typedef struct twinloom_package_options {
  size_t size;        /**< sizeof(twinloom_package_options). */
  int32_t no_compile; /**< Not 0: what the package lacks for this device is an error, and is not compiled. */
  int32_t build_threads; /**< As in twinloom_compile_options. */
} twinloom_package_options;

/** Loads a package of this version of Twinloom. It holds machine code, which runs with the rights of this
 * process: load only what you would execute. libtwinloom_runtime.so, which compiles nothing, has this too. */
TWINLOOM_API twinloom_error* twinloom_load_package(const char* path, const twinloom_device* device,
                                                   const twinloom_package_options* options,
                                                   twinloom_executable** executable);

/* ---- running ---- */

/** Makes the machine code that a run with these arguments needs. Here, and in the next two, a tensor's type,
 * shape and strides are enough: its data may be NULL. */
TWINLOOM_API twinloom_error* twinloom_prepare(const twinloom_executable* executable,
                                              const twinloom_value* arguments, size_t argument_count);
/** Bytes of new memory that a run with these arguments needs at once: temporaries, and results that lie in no
 * argument. Where a donated argument overlaps another one, tensors without data do not tell. */
TWINLOOM_API twinloom_error* twinloom_peak_bytes(const twinloom_executable* executable,
                                                 const twinloom_value* arguments, size_t argument_count,
                                                 int64_t* bytes);

/** For each of the graph's results the number of the parameter, donated or written, whose memory it takes in
 * a run with these arguments; -1: of none. A run may be handed that very memory for the result, and else
 * memory of its own. */
TWINLOOM_API twinloom_error* twinloom_reuses(const twinloom_executable* executable,
                                             const twinloom_value* arguments, size_t argument_count,
                                             int32_t* parameters, size_t result_count);

/** What a run with these arguments consists of, as an object of JSON, times in seconds: `kernels` (name; the
 * operators that each computes, with file and line; loop nest, schedule, sources; bytes that it moves;
 * estimate, by what limits it), `missed` (pairs that stayed two kernels, and why), `scatters`, `reuses` (which
 * result takes the memory of which donated or written input, in bytes), `peak_bytes`. `threads`: of a CPU, 0
 * for one a core. Free with twinloom_text_free. */
TWINLOOM_API twinloom_error* twinloom_explain(const twinloom_executable* executable,
                                              const twinloom_value* arguments, size_t argument_count,
                                              int32_t threads, char** json);

/** The text of the form after each pass of the compiler for such a run, as a list of JSON: objects with
 * `pass` and `text`. Free with twinloom_text_free. */
TWINLOOM_API twinloom_error* twinloom_dump(const twinloom_executable* executable,
                                           const twinloom_value* arguments, size_t argument_count,
                                           char** json);

/** Machine code that is made in the background. */
typedef struct twinloom_preparation twinloom_preparation;

/** twinloom_prepare on a thread of its own, while runs with other arguments go on. The executable must
 * outlive it. */
TWINLOOM_API twinloom_error* twinloom_prepare_start(const twinloom_executable* executable,
                                                    const twinloom_value* arguments, size_t argument_count,
                                                    twinloom_preparation** preparation);
/** Waits so many seconds at most, or, where they are negative, until it is done; `*done` is then 0 or not.
 * The error is that of a preparation that failed. */
TWINLOOM_API twinloom_error* twinloom_preparation_wait(const twinloom_preparation* preparation,
                                                       double seconds, int32_t* done);
/** Waits until it is done: what is being compiled is not broken off. */
TWINLOOM_API void twinloom_preparation_free(twinloom_preparation* preparation);

/** Tasks first..last-1 of a kernel. */
typedef void (*twinloom_tasks)(void* body_context, int64_t first, int64_t last);

/** How a graph is run. */
typedef struct twinloom_run_options {
  size_t size;     /**< sizeof(twinloom_run_options). */
  int32_t threads; /**< Of a CPU; 0: one a core. */
  uint64_t seed;   /**< Of random operators. */
  uint64_t offset; /**< Of random operators: each offset has its own numbers of a seed. */
  /** Of a GPU: a CUstream; the run is in order with what else is on it. NULL: the device's own. */
  void* stream;
  /** Who runs the tasks of a CPU's kernels; NULL: OpenMP's threads. Must call `body` so that every task is
   * covered once, from any threads, at most `threads` of them, and return when all are done. */
  void (*parallel_for)(void* context, int64_t tasks, int32_t threads, twinloom_tasks body,
                       void* body_context);
  void* parallel_context; /**< What `parallel_for` is called with. */
  /** Who hands out memory for results and temporaries; NULL: Twinloom does. At least so many bytes, aligned
   * to 64, on a GPU to 256, to be used in the order of the stream; what it gives is NULL where there are not
   * so many. */
  void* (*allocate)(void* context, size_t bytes, void* stream);
  /** Takes such memory back, from any thread, with the last result that lies in it: the context outlives all
   * results. Given with `allocate` or not at all. */
  void (*release)(void* context, void* memory, size_t bytes, void* stream);
  void* allocate_context; /**< What both are called with. */
  /** Not 0: donated arguments keep what they hold; results get memory of their own. */
  int32_t keep_donated;
} twinloom_run_options;

/** Runs the graph. One argument for each parameter and one result for each of the graph's, in order. A result
 * that is TWINLOOM_NONE on entry gets memory of its own and is TWINLOOM_MANAGED; one that is TWINLOOM_TENSOR
 * is written there, which must have its type and shape and overlap nothing else; it may be row-major in the
 * very memory of an argument that twinloom_reuses names for it. Either every result that the graph computes
 * has such a tensor or none has. A result that is an argument, or a view of one, lies in that argument's
 * memory, and must not outlive it. So does one that takes the memory of a donated argument: its address is
 * that argument's, and what the argument held is gone, also where the run fails. A donated argument that
 * overlaps another one in memory, or that no result takes, keeps what it holds. */
TWINLOOM_API twinloom_error* twinloom_run(const twinloom_executable* executable,
                                          const twinloom_value* arguments, size_t argument_count,
                                          const twinloom_run_options* options, twinloom_value* results,
                                          size_t result_count);

/** A run that is started often: types, shapes and strides are known, and a start says only where all lies. */
typedef struct twinloom_bound_run twinloom_bound_run;

/** Finds all that runs with these arguments and results have in common; a tensor's data may be NULL. Every
 * result that the graph computes has a tensor, all others are TWINLOOM_NONE and are not given by its starts.
 */
TWINLOOM_API twinloom_error* twinloom_bind(const twinloom_executable* executable,
                                           const twinloom_value* arguments, size_t argument_count,
                                           const twinloom_value* results, size_t result_count,
                                           twinloom_bound_run** bound);
/** Waits for the streams of its starts, which must still exist, and frees it. */
TWINLOOM_API void twinloom_bound_free(twinloom_bound_run* bound);
/** Bytes of intermediate results, which a start may be handed. */
TWINLOOM_API size_t twinloom_bound_workspace(const twinloom_bound_run* bound);
/** Runs the graph; on a GPU it only starts, and an index that is out of range is then the error of a later
 * start on the stream. `addresses`: one for each parameter, that of a size being ignored, then one for each
 * result that the graph computes, of which holds what twinloom_run says. `workspace`: aligned to 64, on a GPU
 * to 256, to be used in the order of the stream; NULL: memory is taken for this start. */
TWINLOOM_API twinloom_error* twinloom_bound_start(const twinloom_bound_run* bound, void* const* addresses,
                                                  size_t count, void* workspace,
                                                  const twinloom_run_options* options);

/** How a graph is measured. */
typedef struct twinloom_bench_options {
  size_t size;    /**< sizeof(twinloom_bench_options). */
  double seconds; /**< Half for runs, half for runs in which each kernel is timed; at least 5 of both are. */
  const twinloom_run_options* run; /**< How each is run, donated arguments kept; NULL: as usual. */
} twinloom_bench_options;

/** Times runs with these arguments, into the same results each time, as `twinloom bench` does. `json`: an
 * object with `run_ms` (the median), `run_quartiles_ms` (the lower and the upper one), `runs` (that these are
 * of), `prepare_ms` (from the executable to kernels that can be run), `compile_ms`, `peak_bytes` and
 * `kernels`: of each `name`, `ops` (fused operators), `median_ms`, `quartiles_ms` and `runs`; where there is
 * an estimate of how long it should take `estimated_ms`, its `limiter`, `share_of_limiter` and all of its
 * `roofs`; `bytes`, `touched_bytes` and `floor_bytes` (that are moved, that loads and stores execute, of the
 * graph's inputs and results), `gbps`, `flops` (operations a second), `compile_ms`, `cached`; `once` where it
 * follows from arrays of the graph alone and no run starts it, so its times are 0; and `launches` on a GPU,
 * whose times are its own, with an L2 cache that was written over before each run. Parameters that
 * the graph writes are written by each run. Free with twinloom_text_free. */
TWINLOOM_API twinloom_error* twinloom_bench(const twinloom_executable* executable,
                                            const twinloom_value* arguments, size_t argument_count,
                                            const twinloom_bench_options* options, char** json);

/** A run that was started. */
typedef struct twinloom_pending twinloom_pending;

/** twinloom_run without waiting for a GPU: the results may be handed to what is put on the run's stream
 * later, and be read after twinloom_pending_wait. The arguments' memory must live until then. */
TWINLOOM_API twinloom_error* twinloom_start(const twinloom_executable* executable,
                                            const twinloom_value* arguments, size_t argument_count,
                                            const twinloom_run_options* options, twinloom_value* results,
                                            size_t result_count, twinloom_pending** pending);
/** Waits until the run is done; an index that was out of range, or a GPU that failed, is the error. */
TWINLOOM_API twinloom_error* twinloom_pending_wait(twinloom_pending* pending);
/** Not 0: waiting takes no time. */
TWINLOOM_API int twinloom_pending_ready(const twinloom_pending* pending);
/** Waits, and frees the pending run. */
TWINLOOM_API void twinloom_pending_free(twinloom_pending* pending);

#ifdef __cplusplus
}
#endif

#endif
