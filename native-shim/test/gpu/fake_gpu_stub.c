// Stands in for launches and graphs until they are here.
#include "fake_gpu.h"
int fake_capture_op(fake_queue_t* q, fake_op_t op){(void)q;(void)op;return 801;}
void fake_capture_record(sgpu_event_t e, fake_queue_t*q){(void)e;(void)q;}
int fake_capture_wait(fake_queue_t* q, sgpu_event_t e){(void)e;(void)q;return 0;}
int fake_refuse_capture(void){return 0;}
void fake_leave_capture(fake_queue_t*q){(void)q;}
void fake_forget_capture(sgpu_event_t e){(void)e;}
int fake_run_nodes(sgpu_context_t c, struct fake_nodes_t*n){(void)c;(void)n;return 0;}
void fake_release_nodes(struct fake_nodes_t*n){(void)n;}
void fake_use_nodes(fake_op_t*o,const struct fake_nodes_t*n){(void)o;(void)n;}
int fake_run_launch(sgpu_context_t c,struct fake_launch_t*l){(void)c;(void)l;return 0;}
void fake_release_launch(struct fake_launch_t*l){(void)l;}
void fake_use_launch(fake_op_t*o,const struct fake_launch_t*l){(void)o;(void)l;}
void fake_free_modules(sgpu_context_t c){(void)c;}
