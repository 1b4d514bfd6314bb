// What testbenches for Siemens Catapult include: here the design is the C++ itself.
#ifndef ALLO_SIM_MC_SCVERIFY_H
#define ALLO_SIM_MC_SCVERIFY_H

#define CCS_DESIGN(design) design
#define CCS_MAIN(count, words) int main(count, words)
#define CCS_RETURN(status) return (status)

#endif
